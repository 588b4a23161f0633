//! The worker against a scripted runtime: what it says, in which order.

use super::*;
use crate::{
    hub::Queue,
    runtime::cri::CriSource,
    testing::{
        frames_until, hello,
        scripted::{Act, ScriptedRuntime, healthy, version},
    },
};
use pleg_core::pleg::Health;
use tokio::task::JoinHandle;

struct Observation {
    hub: Arc<Hub>,
    frames: Arc<Queue>,
    worker: JoinHandle<()>,
}

impl Observation {
    fn start(runtime: &ScriptedRuntime) -> Self {
        let hub = Arc::new(Hub::new(0, None, None));
        let frames = hub.subscribe().queue;
        let source = CriSource::new(&runtime.endpoint(), Duration::from_secs(30)).unwrap();
        let worker = Worker::new(Clock::start(), Arc::clone(&hub), Source::Cri(source), hello());
        Self { hub, frames, worker: tokio::spawn(worker.run()) }
    }

    /// The frames up to the end of the next relist, without the `calling` of calls that went well: on a busy
    /// machine any call may take its 20 ms.
    async fn relist(&self) -> Vec<Frame> {
        let mut frames = frames_until(&self.frames, |frame| matches!(frame, Frame::Done(_))).await;
        let failed: Vec<_> = frames.iter().filter_map(failed_op).collect();
        frames.retain(|frame| !matches!(frame, Frame::Calling(calling) if !failed.contains(&calling.op)));
        frames
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        self.worker.abort();
    }
}

fn failed_op(frame: &Frame) -> Option<Op> {
    match frame {
        Frame::Call(call) if call.error.is_some() => Some(call.op),
        _ => None,
    }
}

/// One word for each frame.
fn outline(frames: &[Frame]) -> String {
    let words: Vec<_> = frames
        .iter()
        .map(|frame| match frame {
            Frame::Hello(hello) => format!("hello({})", hello.runtime.version),
            Frame::Relist(relist) => format!("relist({})", relist.n),
            Frame::Calling(calling) => format!("calling({})", calling.op),
            Frame::Call(call) => match &call.error {
                None => format!("call({})", call.op),
                Some(error) => format!("call({}: {})", call.op, error.code),
            },
            Frame::Key(_) => "key".into(),
            Frame::Delta(delta) => if delta.is_empty() { "same" } else { "delta" }.into(),
            Frame::Done(_) => "done".into(),
            Frame::Live {} => "live".into(),
            other => format!("{other:?}"),
        })
        .collect();
    words.join(" ")
}

#[tokio::test]
async fn a_relist_is_told_call_by_call() {
    let runtime = ScriptedRuntime::start(healthy);
    let observation = Observation::start(&runtime);
    assert_eq!(
        outline(&observation.relist().await),
        "live hello(1.0) relist(1) call(ListPodSandbox) call(ListContainers) key call(PodSandboxStatus) done"
    );
    assert_eq!(
        outline(&observation.relist().await),
        "relist(2) call(ListPodSandbox) call(ListContainers) same done"
    );
    assert!(matches!(observation.hub.health().health, Health::Healthy { .. }));
}

#[tokio::test]
async fn a_call_that_hangs_is_announced_and_ends_at_its_deadline() {
    let runtime = ScriptedRuntime::start(|path| match path.ends_with("/ListContainers") {
        true => Act::Hang,
        false => healthy(path),
    });
    let observation = Observation::start(&runtime);
    let frames = observation.relist().await;
    assert_eq!(
        outline(&frames),
        "live hello(1.0) relist(1) call(ListPodSandbox) calling(ListContainers) \
         call(ListContainers: DeadlineExceeded) done"
    );
    let errors = frames.iter().filter_map(|frame| match frame {
        Frame::Call(call) => call.error.as_ref().map(ToString::to_string),
        _ => None,
    });
    assert_eq!(
        errors.collect::<Vec<_>>(),
        ["rpc error: code = DeadlineExceeded desc = context deadline exceeded"]
    );
    assert_eq!(observation.hub.health().health, Health::NeverSucceeded);
}

#[tokio::test]
async fn a_hanging_inspection_does_not_end_the_relist() {
    let runtime = ScriptedRuntime::start(|path| match path.ends_with("/PodSandboxStatus") {
        true => Act::Hang,
        false => healthy(path),
    });
    let observation = Observation::start(&runtime);
    let again = "call(ListPodSandbox) call(ListContainers) same calling(PodSandboxStatus) \
                 call(PodSandboxStatus: DeadlineExceeded) done";
    observation.relist().await;
    assert_eq!(outline(&observation.relist().await), format!("relist(2) {again}"));
}

#[tokio::test]
async fn a_runtime_may_vanish_and_come_back_as_another() {
    let mut runtime = ScriptedRuntime::start(healthy);
    let observation = Observation::start(&runtime);
    observation.relist().await;
    runtime.stop().await;
    let failed = |frame: &Frame| failed_op(frame).is_some();
    frames_until(&observation.frames, failed).await;
    runtime.start_again(|path| match path.ends_with("/Version") {
        true => version("2.0"),
        false => healthy(path),
    });
    let back = frames_until(&observation.frames, |frame| matches!(frame, Frame::Hello(_))).await;
    let outline = outline(&back);
    assert!(outline.ends_with("call(ListPodSandbox) call(ListContainers) same done hello(2.0)"), "{outline}");
}
