//! Conversion of what real runtimes answered (`tests/fixtures`) and of what broken ones might.

use super::*;
use prost::Message as _;
use serde::Deserialize;
use std::{collections::BTreeMap, fs, path::PathBuf};

/// Year 1 as nanoseconds since the epoch, wrapped: cri-dockerd's "not finished".
const YEAR_ONE: i64 = -6_795_364_578_871_345_152;

#[derive(Deserialize)]
struct Statuses {
    containers: BTreeMap<String, v1::ContainerStatusResponse>,
    sandboxes: BTreeMap<String, v1::PodSandboxStatusResponse>,
}

fn fixture(runtime: &str, file: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    fs::read(folder.join(runtime).join(file)).unwrap()
}

fn sandboxes(bytes: &[u8]) -> Result<Vec<Sandbox>, prost::DecodeError> {
    v1::ListPodSandboxResponse::decode(bytes).map(|list| list.items.into_iter().map(sandbox).collect())
}

fn containers(bytes: &[u8]) -> Result<Vec<Container>, prost::DecodeError> {
    v1::ListContainersResponse::decode(bytes).map(|list| list.containers.into_iter().map(container).collect())
}

fn statuses(runtime: &str) -> Statuses {
    serde_json::from_slice(&fixture(runtime, "statuses.json")).unwrap()
}

#[test]
fn the_lists_of_real_runtimes() {
    for (runtime, ready, states) in [
        ("containerd-1.6.20", 7, [1, 6, 10, 0]),
        ("containerd-2.3.4", 7, [1, 6, 10, 0]),
        ("cri-o-1.36.3", 8, [1, 6, 9, 0]),
    ] {
        let list = sandboxes(&fixture(runtime, "ListPodSandbox.pb")).unwrap();
        assert_eq!(list.len(), 9, "{runtime}");
        assert_eq!(list.iter().filter(|s| s.state == SandboxState::Ready).count(), ready, "{runtime}");
        for sandbox in &list {
            let metadata = sandbox.metadata.as_ref().unwrap();
            assert_eq!(sandbox.labels["io.kubernetes.pod.uid"], *metadata.uid, "{runtime}");
            assert_eq!(metadata.namespace, "default");
            assert!(sandbox.created_at > 0 && sandbox.id.len() == 64, "{runtime}");
        }
        let list = containers(&fixture(runtime, "ListContainers.pb")).unwrap();
        let count = |state| list.iter().filter(|container| container.state == state).count();
        use ContainerState::*;
        assert_eq!([Created, Running, Exited, Unknown].map(count), states, "{runtime}");
        let crashes = list.iter().filter_map(|container| container.metadata.as_ref());
        assert_eq!(crashes.map(|metadata| metadata.attempt).max(), Some(3), "{runtime}");
        assert!(list.iter().all(|container| container.image.as_deref() == Some("criprobe.local/busybox:1")));
    }
}

#[test]
fn the_container_statuses_of_real_runtimes() {
    use ContainerState::*;
    // Runtime, container, state, exit code, reason, started, finished, finished before it started.
    for (runtime, name, state, code, reason, started, finished, backwards) in [
        ("containerd-1.6.20", "crashloop/app/0", Exited, 1, "Error", true, true, false),
        ("containerd-1.6.20", "created/waiting", Created, 0, "", false, false, false),
        ("containerd-1.6.20", "exits/nocmd", Exited, 128, "StartError", false, true, false),
        ("containerd-1.6.20", "oom/hogchild", Running, 0, "OOMKilled", true, false, false),
        ("containerd-1.6.20", "running-two/app", Running, 0, "", true, false, false),
        ("containerd-1.6.20", "exits/sigkill", Exited, 0, "Completed", true, true, false),
        ("containerd-2.3.4", "exits/ok", Exited, 0, "Completed", true, true, false),
        ("containerd-2.3.4", "exits/nocmd", Exited, 128, "StartError", false, true, false),
        ("cri-o-1.36.3", "exits/fail3", Exited, 3, "Error", true, true, true),
        ("cri-o-1.36.3", "created/waiting", Created, 0, "", false, false, false),
    ] {
        let answer = statuses(runtime).containers.remove(name).unwrap();
        let status = container_status(answer.status.unwrap());
        assert_eq!((status.state, status.exit_code, status.reason.as_str()), (state, code, reason), "{name}");
        assert_eq!((status.started_at > 0, status.finished_at > 0), (started, finished), "{runtime} {name}");
        assert_eq!(
            finished && started && status.finished_at < status.started_at,
            backwards,
            "{runtime} {name}"
        );
        assert_eq!(status.image, "criprobe.local/busybox:1");
        assert!(!status.image_ref.is_empty());
    }
}

#[test]
fn the_sandbox_statuses_of_real_runtimes() {
    for (runtime, name, state, containers, stamped) in [
        ("containerd-1.6.20", "crashloop/0", SandboxState::Ready, 0, false),
        ("containerd-1.6.20", "notready/0", SandboxState::NotReady, 0, false),
        ("containerd-2.3.4", "running-two/0", SandboxState::Ready, 0, false),
        ("cri-o-1.36.3", "running-two/0", SandboxState::Ready, 2, true),
        ("cri-o-1.36.3", "empty/0", SandboxState::Ready, 0, true),
    ] {
        let answer = sandbox_answer(statuses(runtime).sandboxes.remove(name).unwrap());
        let status = answer.status.unwrap();
        assert_eq!(status.state, state, "{runtime} {name}");
        assert_eq!(status.network, Some(Network::default()), "host network: no address");
        assert_eq!(
            (answer.containers.len(), answer.timestamp > 0),
            (containers, stamped),
            "{runtime} {name}"
        );
    }
}

#[test]
fn what_cri_does_not_define_is_kept() {
    let item = v1::Container { state: 42, ..v1::Container::default() };
    assert_eq!(container(item).state, ContainerState::Other(42));
    let item = v1::PodSandbox { state: -1, ..v1::PodSandbox::default() };
    assert_eq!(sandbox(item).state, SandboxState::Other(-1));
}

#[test]
fn what_is_missing_stays_missing() {
    let bare = container(v1::Container { id: "c".into(), ..v1::Container::default() });
    assert_eq!((bare.metadata, bare.image), (None, None));
    let bare = sandbox(v1::PodSandbox { id: "s".into(), ..v1::PodSandbox::default() });
    assert_eq!(bare.metadata, None);
    assert_eq!(sandbox_answer(v1::PodSandboxStatusResponse::default()).status, None);
    let status = container_status(v1::ContainerStatus::default());
    assert_eq!((status.image.as_str(), status.metadata), ("", None));
}

#[test]
fn times_before_the_epoch_are_kept() {
    let running = v1::ContainerStatus { finished_at: YEAR_ONE, ..v1::ContainerStatus::default() };
    assert_eq!(container_status(running).finished_at, YEAR_ONE);
}

#[test]
fn all_addresses_of_a_pod_are_kept_in_order() {
    let ips = ["10.0.0.2", "fd00::2"].map(|ip| v1::PodIp { ip: ip.into() });
    let network = v1::PodSandboxNetworkStatus { ip: "10.0.0.1".into(), additional_ips: ips.to_vec() };
    let status = v1::PodSandboxStatus { network: Some(network), ..v1::PodSandboxStatus::default() };
    let network = sandbox_status(status).network.unwrap();
    assert_eq!(
        (network.ip.as_str(), network.additional_ips),
        ("10.0.0.1", vec!["10.0.0.2".into(), "fd00::2".into()])
    );
}

/// A damaged answer is an error or a list, never a panic; and most damage is a list.
#[test]
fn damaged_lists_do_not_panic() {
    let whole = fixture("cri-o-1.36.3", "ListContainers.pb");
    let mut read = 0;
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        read += usize::from(containers(&damaged).is_ok());
        read += usize::from(sandboxes(&damaged).is_ok());
    }
    assert!(read > 0);
}
