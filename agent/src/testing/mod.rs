//! What the tests of several modules need.

pub(crate) mod scripted;

use crate::hub::Queue;
use pleg_core::{
    time::SECOND,
    wire::{Frame, Hello, RuntimeInfo, VERSION},
};

/// A `hello` with short times.
pub(crate) fn hello() -> Hello {
    Hello {
        plegscope: VERSION,
        agent: "test".into(),
        node: "node".into(),
        boot: String::new(),
        runtime: RuntimeInfo::default(),
        kubelet: "1.36".into(),
        container_events: false,
        period: SECOND / 1000,
        threshold: SECOND,
        capacity: 1000,
        deadline: SECOND / 10,
        wall: 1_700_000_000 * SECOND,
        mono: 0,
    }
}

/// The frames of a client up to the first that `is_last`.
pub(crate) async fn frames_until(queue: &Queue, is_last: impl Fn(&Frame) -> bool) -> Vec<Frame> {
    let mut frames = Vec::new();
    while let Some(message) = queue.next().await {
        for frame in Frame::from_lines(&message).unwrap() {
            let last = is_last(&frame);
            frames.push(frame);
            if last {
                return frames;
            }
        }
    }
    panic!("the stream ended after {frames:?}");
}
