//! Replays a capture: the same frames into the hub, at the times that they have, or faster.

use crate::{capture::Capture, hub::Hub};
use pleg_core::{
    time::Nanos,
    wire::{Frame, Hello},
};
use std::time::Duration;
use tokio::time::sleep;

/// Plays a whole capture: at speed 1 as it was, at 10 ten times as fast, at 0 without any pause.
///
/// # Errors
/// When the file cannot be read on; what came before has been played.
pub(crate) async fn play(mut capture: Capture, speed: f64, hub: &Hub) -> anyhow::Result<()> {
    let mut pace = Pace::default();
    let mut heads = Heads::default();
    while let Some(frame) = capture.next_frame()? {
        if !heads.is_news(&frame) {
            continue;
        }
        let pause = pace.until(&frame);
        if speed > 0.0 && pause > 0 {
            sleep(Duration::from_nanos(pause.unsigned_abs()).div_f64(speed)).await;
        } else {
            // Clients are served between two frames even without pauses.
            tokio::task::yield_now().await;
        }
        hub.publish(&frame);
    }
    Ok(())
}

/// Tells what a segment's head repeats from what its readers do not have yet.
#[derive(Debug, Default)]
struct Heads {
    hello: Option<Box<Hello>>,
    /// The reader needs a checkpoint: at the beginning, after a gap, and when another observer begins.
    wanted: bool,
}

impl Heads {
    fn is_news(&mut self, frame: &Frame) -> bool {
        match frame {
            Frame::Hello(hello) => {
                self.wanted |= !self.hello.as_ref().is_some_and(|known| known.is_of_same_observer(hello));
                let known = self.hello.replace(hello.clone());
                self.wanted || known.as_ref() != Some(hello)
            }
            Frame::Checkpoint(_) => std::mem::take(&mut self.wanted),
            Frame::Gap(_) => {
                self.wanted = true;
                true
            }
            Frame::Relist(_) => {
                self.wanted = false;
                true
            }
            Frame::Live {} => false,
            _ => true,
        }
    }
}

/// Knows at what moment of the past a frame was sent.
#[derive(Debug, Default)]
struct Pace {
    /// Start of the running relist on the monotonic clock of the past.
    start: Nanos,
    /// The last frame's moment.
    last: Option<Nanos>,
}

impl Pace {
    /// Nanoseconds between the frame before and this one.
    fn until(&mut self, frame: &Frame) -> Nanos {
        if let Frame::Relist(relist) = frame {
            self.start = relist.mono;
        }
        let moment = match frame {
            Frame::Relist(relist) => relist.mono,
            Frame::Calling(calling) => self.start + calling.at,
            Frame::Call(call) => self.start + call.at + call.took,
            Frame::Done(done) => self.start + done.at,
            Frame::Tick(tick) => tick.mono,
            _ => return 0,
        };
        let pause = self.last.map_or(0, |last| moment - last).max(0);
        self.last = Some(self.last.map_or(moment, |last| last.max(moment)));
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hello;
    use pleg_core::{
        cri::Op,
        follow::{Checkpoint, Follower},
        wire::{Call, Done, Gap, Relist, Tick},
    };

    #[test]
    fn frames_keep_their_distance() {
        let mut pace = Pace::default();
        let relist = |n, mono| Frame::Relist(Relist { n, wall: 0, mono });
        let call =
            Call { op: Op::ListContainers, id: None, at: 5, took: 20, bytes: 0, error: None, answer: None };
        let frames = [
            (relist(1, 1_000), 0),
            (Frame::Call(Box::new(call)), 25),
            (Frame::Done(Done { at: 30 }), 5),
            (Frame::Tick(Tick { mono: 1_100 }), 70),
            (relist(2, 1_200), 100),
            (Frame::Live {}, 0),
            (relist(3, 1_150), 0),
        ];
        for (frame, pause) in frames {
            assert_eq!(pace.until(&frame), pause, "{frame:?}");
        }
    }

    #[test]
    fn heads_are_sent_where_a_reader_needs_them() {
        let first = hello();
        let named = Hello { agent: "named later".into(), ..first.clone() };
        let other = Hello { wall: 7, ..first.clone() };
        let hello = |hello: &Hello| Frame::Hello(Box::new(hello.clone()));
        let checkpoint = || Frame::Checkpoint(Box::new(checkpoint()));
        let relist = || Frame::Relist(Relist { n: 1, wall: 0, mono: 0 });
        let mut heads = Heads::default();
        for (frame, news) in [
            (hello(&first), true),
            (checkpoint(), true),
            (relist(), true),
            (hello(&first), false),
            (checkpoint(), false),
            (hello(&named), true),
            (checkpoint(), false),
            (Frame::Gap(Gap { dropped: 1 }), true),
            (hello(&named), true),
            (checkpoint(), true),
            (Frame::Live {}, false),
            (hello(&other), true),
            (checkpoint(), true),
            (relist(), true),
        ] {
            assert_eq!(heads.is_news(&frame), news, "{frame:?}");
        }
    }

    fn checkpoint() -> Checkpoint {
        let mut follower = Follower::new();
        follower.handle_frame(&Frame::Hello(Box::new(hello()))).unwrap();
        follower.checkpoint().unwrap()
    }
}
