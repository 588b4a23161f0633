//! Replays a capture: the same frames into the hub, at the times that they have, or faster.

use crate::{capture::Capture, hub::Hub};
use pleg_core::{
    time::{Nanos, SECOND},
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
    while let Some(frame) = capture.next_frame()? {
        let pause = pace.until(&frame);
        if speed > 0.0 && pause > 0 {
            sleep(slowed(pause, speed)).await;
        } else {
            // Clients are served between two frames even without pauses.
            tokio::task::yield_now().await;
        }
        hub.publish(&frame);
    }
    Ok(())
}

/// A pause in nanoseconds at a speed; the longest there is where it would be longer.
fn slowed(pause: Nanos, speed: f64) -> Duration {
    Duration::try_from_secs_f64(pause as f64 / SECOND as f64 / speed).unwrap_or(Duration::MAX)
}

/// Knows at what moment of the past a frame was sent.
#[derive(Debug, Default)]
struct Pace {
    /// Start of the running relist on the monotonic clock of the past.
    start: Nanos,
    /// The last frame's moment.
    last: Option<Nanos>,
    /// Whose clock that is.
    hello: Option<Box<Hello>>,
}

impl Pace {
    /// Nanoseconds between the frame before and this one; none where another observer begins, after a reboot perhaps.
    fn until(&mut self, frame: &Frame) -> Nanos {
        if let Frame::Hello(hello) = frame {
            if !self.hello.as_ref().is_some_and(|known| known.is_of_same_observer(hello)) {
                self.last = None;
            }
            self.hello = Some(hello.clone());
        }
        if let Frame::Relist(relist) = frame {
            self.start = relist.mono;
        }
        let moment = match frame {
            Frame::Relist(relist) => relist.mono,
            Frame::Calling(calling) => self.start.saturating_add(calling.at),
            Frame::Call(call) => self.start.saturating_add(call.at).saturating_add(call.took),
            Frame::Done(done) => self.start.saturating_add(done.at),
            Frame::Tick(tick) => tick.mono,
            _ => return 0,
        };
        let pause = self.last.map_or(0, |last| moment.saturating_sub(last)).max(0);
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
        wire::{Call, Done, Relist, Tick},
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
            (relist(4, Nanos::MIN), 0),
            (relist(5, Nanos::MAX), Nanos::MAX - 1_200),
            (Frame::Done(Done { at: 5 }), 0),
            (Frame::Hello(Box::new(Hello { mono: 7, ..hello() })), 0),
            (relist(1, 10), 0),
            (relist(2, 25), 15),
        ];
        for (frame, pause) in frames {
            assert_eq!(pace.until(&frame), pause, "{frame:?}");
        }
        assert_eq!(slowed(SECOND, 10.0), Duration::from_millis(100));
        assert_eq!(slowed(SECOND, f64::MIN_POSITIVE), Duration::MAX);
    }
}
