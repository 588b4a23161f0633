//! The CRI source against a scripted server.

use super::*;
use crate::testing::scripted::{Act, ScriptedRuntime, healthy, one_container};
use std::sync::{Arc, Mutex};

async fn ask(runtime: &ScriptedRuntime, op: Op, id: Option<&str>) -> (CriSource, Reply) {
    let mut source = CriSource::new(&runtime.endpoint(), Duration::from_secs(30)).unwrap();
    let reply = source.call(op, id.map(CriId::from).as_ref()).await;
    (source, reply)
}

#[tokio::test]
async fn v1_is_spoken_where_it_is_understood() {
    let paths = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&paths);
    let runtime = ScriptedRuntime::start(move |path| {
        seen.lock().unwrap().push(path.to_owned());
        healthy(path)
    });
    let (source, reply) = ask(&runtime, Op::ListPodSandbox, None).await;
    let info = source.info();
    assert_eq!((info.name.as_str(), info.version.as_str(), info.api.as_str()), ("scripted", "1.0", "v1"));
    assert!(matches!(&reply.result, Ok(Said::Sandboxes(list)) if list.len() == 1), "{reply:?}");
    assert_eq!(reply.bytes, 27);
    assert_eq!(
        *paths.lock().unwrap(),
        ["/runtime.v1.RuntimeService/Version", "/runtime.v1.RuntimeService/ListPodSandbox"]
    );
}

#[tokio::test]
async fn v1alpha2_is_spoken_to_an_old_runtime() {
    let runtime = ScriptedRuntime::start(|path| match path.strip_prefix("/runtime.v1alpha2.") {
        Some(path) => healthy(path),
        None => Act::Fail(Code::Unimplemented, "unknown service runtime.v1.RuntimeService"),
    });
    let (source, reply) = ask(&runtime, Op::PodSandboxStatus, Some("s1")).await;
    assert_eq!(source.info().api, "v1alpha2");
    let Ok(Said::Answer(Answer::Sandbox(answer))) = reply.result else { panic!("{reply:?}") };
    assert_eq!(answer.status.unwrap().id.as_str(), "s1");
}

#[tokio::test]
async fn a_runtime_without_cri_says_what_to_look_at() {
    let runtime = ScriptedRuntime::start(|_| Act::Fail(Code::Unimplemented, "unknown service"));
    let (_, reply) = ask(&runtime, Op::ListPodSandbox, None).await;
    let error = reply.result.unwrap_err();
    assert_eq!(error.code, "Unimplemented");
    assert!(error.message.ends_with("is its CRI plugin disabled?"), "{error}");
}

#[tokio::test]
async fn answers_are_read_up_to_16_mebibytes() {
    for (annotation, readable) in [(5 << 20, true), (15 << 20, true), (16 << 20, false)] {
        let runtime = ScriptedRuntime::start(move |path| match path.ends_with("/ListContainers") {
            true => one_container(annotation),
            false => healthy(path),
        });
        let (_, reply) = ask(&runtime, Op::ListContainers, None).await;
        if readable {
            assert!(
                matches!(&reply.result, Ok(Said::Containers(list)) if list.len() == 1),
                "{:?}",
                reply.result.err()
            );
            assert!(reply.bytes > u64::try_from(annotation).unwrap());
        } else {
            let error = reply.result.unwrap_err();
            assert_eq!(error.code, "OutOfRange");
            assert!(error.message.contains("the limit is: 16777216 bytes"), "{error}");
        }
    }
}

#[tokio::test]
async fn failures_keep_the_runtimes_words() {
    let runtime = ScriptedRuntime::start(|path| match path.ends_with("/ContainerStatus") {
        true => Act::Fail(Code::NotFound, "an error occurred when try to find container \"c1\": not found"),
        false => healthy(path),
    });
    let (_, reply) = ask(&runtime, Op::ContainerStatus, Some("c1")).await;
    assert_eq!(
        reply.result.unwrap_err().to_string(),
        "rpc error: code = NotFound desc = an error occurred when try to find container \"c1\": not found"
    );
}

#[tokio::test]
async fn nobody_listening_is_unavailable() {
    let mut runtime = ScriptedRuntime::start(healthy);
    runtime.stop().await;
    let (_, reply) = ask(&runtime, Op::ListPodSandbox, None).await;
    let error = reply.result.unwrap_err();
    assert_eq!(error.code, "Unavailable");
    assert!(error.message.contains("No such file or directory"), "{error}");
}

#[tokio::test]
async fn garbage_is_an_error() {
    let runtime = ScriptedRuntime::start(|path| match path.ends_with("/ListContainers") {
        true => Act::Answer(vec![0xff; 40]),
        false => healthy(path),
    });
    let (_, reply) = ask(&runtime, Op::ListContainers, None).await;
    let error = reply.result.unwrap_err();
    assert_eq!(error.code, "Internal");
    assert!(error.message.starts_with("the answer is not protobuf"), "{error}");
}

#[test]
fn endpoints_are_read_as_the_kubelet_writes_them() {
    for endpoint in ["unix:///run/c.sock", "unix:/run/c.sock", "/run/c.sock"] {
        assert_eq!(socket_path(endpoint).unwrap(), "/run/c.sock");
    }
    for endpoint in ["", "tcp://127.0.0.1:1", "run/c.sock", "npipe:////./pipe/x"] {
        assert!(socket_path(endpoint).unwrap_err().to_string().contains("no unix socket"));
    }
}
