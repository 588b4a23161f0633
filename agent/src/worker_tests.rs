//! The worker against a scripted runtime: what it says, in which order.

use super::*;
use crate::{
    hub::Queue,
    runtime::{cri::CriSource, events::EventFeed},
    testing::{
        frames_until, hello,
        scripted::{Act, ScriptedRuntime, container_event, healthy, version},
    },
};
use pleg_core::{
    pleg::{Health, RELIST_PERIOD},
    time::SECOND,
    wire::StreamNews,
};
use pleg_cri::v1::ContainerEventType::{ContainerDeletedEvent, ContainerStartedEvent, ContainerStoppedEvent};
use std::cell::Cell;
use tokio::task::JoinHandle;
use tonic::Code;

struct Observation {
    hub: Arc<Hub>,
    frames: Arc<Queue>,
    worker: JoinHandle<()>,
}

impl Observation {
    fn start(runtime: &ScriptedRuntime) -> Self {
        Self::start_with(runtime, None, hello())
    }

    /// Reads the runtime's events too, and relists rarely.
    fn start_evented(runtime: &ScriptedRuntime) -> Self {
        let feed = EventFeed::start(&runtime.endpoint()).unwrap();
        let period = 3_600 * SECOND;
        Self::start_with(runtime, Some(feed), Hello { container_events: true, period, ..hello() })
    }

    fn start_with(runtime: &ScriptedRuntime, feed: Option<EventFeed>, hello: Hello) -> Self {
        let hub = Arc::new(Hub::new(0, None, None));
        let frames = hub.subscribe().queue;
        let source = CriSource::new(&runtime.endpoint(), Duration::from_secs(30)).unwrap();
        let stream = EventStream::new(feed);
        let worker = Worker::new(Clock::start(), Arc::clone(&hub), Source::Cri(source), stream, hello);
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

/// One word for each frame of the stream and each relist, up to the first of this word.
async fn stream_outline(observation: &Observation, last: &str) -> Vec<String> {
    let is_last = |frame: &Frame| stream_word(frame).is_some_and(|word| word == last);
    frames_until(&observation.frames, is_last).await.iter().filter_map(stream_word).collect()
}

fn stream_word(frame: &Frame) -> Option<String> {
    match frame {
        Frame::Stream(stream) => Some(match &stream.what {
            StreamNews::Opened => "opened".to_owned(),
            StreamNews::Event(event) => format!("{:?}", event.kind),
            StreamNews::Failed(error) => error.code.clone(),
            other => format!("{other:?}"),
        }),
        Frame::Relist(_) => Some("relist".to_owned()),
        _ => None,
    }
}

#[tokio::test]
async fn the_runtimes_events_become_frames_between_relists() {
    let runtime = ScriptedRuntime::start(|path| match path {
        "/runtime.v1.RuntimeService/GetContainerEvents" => {
            let kinds = [ContainerStartedEvent, ContainerStoppedEvent, ContainerDeletedEvent];
            Act::Stream(kinds.map(container_event).into(), None)
        }
        path => healthy(path),
    });
    let observation = Observation::start_evented(&runtime);
    let mut told = stream_outline(&observation, "Deleted").await;
    told.retain(|word| word != "relist");
    assert_eq!(told, ["opened", "Started", "Stopped", "Deleted"]);
    assert_eq!(observation.hub.stream_action(), StreamAction::Read);
    assert_eq!(observation.hub.relist_period(), Some(3_600 * SECOND));
}

#[tokio::test]
async fn a_stream_that_breaks_five_times_is_given_up_each_time_with_a_relist() {
    let runtime = ScriptedRuntime::start(|path| match path.ends_with("/GetContainerEvents") {
        true => Act::Stream(Vec::new(), Some((Code::Unknown, "error reading from server"))),
        false => healthy(path),
    });
    let observation = Observation::start_evented(&runtime);
    // The first relist, and one for each error. Frames come in messages, so they are read in one go.
    let ended = Cell::new(0);
    let is_last = |frame: &Frame| {
        ended.set(ended.get() + usize::from(matches!(frame, Frame::Done(_))));
        ended.get() == 6
    };
    let frames = frames_until(&observation.frames, is_last).await;
    let told: Vec<String> = frames.iter().filter_map(stream_word).collect();
    assert_eq!(told.iter().filter(|word| *word == "Unknown").count(), 5, "{told:?}");
    assert_eq!(told.iter().filter(|word| *word == "opened").count(), 5, "{told:?}");
    assert_eq!(observation.hub.stream_action(), StreamAction::Nothing);
    assert_eq!(observation.hub.relist_period(), Some(RELIST_PERIOD), "the kubelet falls back to it");
}

#[tokio::test]
async fn a_runtime_without_the_stream_says_so_in_the_frames() {
    let runtime = ScriptedRuntime::start(healthy);
    let observation = Observation::start_evented(&runtime);
    let told = stream_outline(&observation, "Unimplemented").await;
    assert!(told.contains(&"opened".to_owned()), "there was a connection: {told:?}");
}
