//! What holds for every follower of the simulated node.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use pleg_core::{
    follow::{EventLine, Follower},
    time::SECOND,
    wire::Frame,
};
use pleg_tests::simulated::Observer;

fn events(follower: &mut Follower) -> Vec<EventLine> {
    std::iter::from_fn(|| follower.poll_event()).collect()
}

fn over_the_wire(frames: &[Frame]) -> Vec<Frame> {
    let text: String = frames.iter().map(|frame| frame.to_line().unwrap()).collect();
    let read = Frame::from_lines(&text).unwrap();
    assert_eq!(read, frames);
    read
}

#[test]
fn a_reader_of_the_frames_derives_what_the_observer_did() {
    for seed in 0..4 {
        let (mut observer, mut reader) = (Observer::new(seed).unwrap(), Follower::new());
        while observer.elapsed() < 200 * SECOND {
            observer.relist().unwrap();
            for frame in over_the_wire(&observer.take_frames()) {
                reader.handle_frame(&frame).unwrap();
            }
        }
        let seen = events(&mut observer.follower);
        assert!(seen.len() > 100, "only {} events", seen.len());
        assert_eq!(events(&mut reader), seen);
        assert_eq!(reader.checkpoint(), observer.follower.checkpoint());
        assert_eq!(reader.timeline().relists(), observer.follower.timeline().relists());
    }
}

#[test]
fn who_comes_late_sees_the_same_from_there_on() {
    let mut observer = Observer::new(7).unwrap();
    let hello = observer.take_frames().remove(0);
    let mut late: Vec<Follower> = Vec::new();
    while observer.elapsed() < 200 * SECOND {
        let checkpoint = Frame::Checkpoint(Box::new(observer.follower.checkpoint().unwrap()));
        let mut newest = Follower::new();
        newest.handle_frame(&hello).unwrap();
        newest.handle_frame(&over_the_wire(&[checkpoint])[0]).unwrap();
        late.push(newest);
        for _ in 0..9 {
            observer.relist().unwrap();
        }
        let (frames, expected) = (observer.take_frames(), events(&mut observer.follower));
        for follower in &mut late {
            for frame in &frames {
                follower.handle_frame(frame).unwrap();
            }
            assert_eq!(events(follower), expected);
            assert_eq!(follower.snapshot(), observer.follower.snapshot());
        }
    }
    assert!(late.len() > 15);
}

#[test]
fn a_gap_is_closed_by_a_checkpoint_without_telling_anything_twice() {
    let (mut observer, mut reader) = (Observer::new(3).unwrap(), Follower::new());
    let mut told = Vec::new();
    let mut missed = 0;
    for n in 0..90 {
        // From here, as the agent does for a reader that was too slow: gap, hello, checkpoint, and all since.
        let checkpoint = Frame::Checkpoint(Box::new(observer.follower.checkpoint().unwrap()));
        observer.relist().unwrap();
        let frames = observer.take_frames();
        let expected = events(&mut observer.follower);
        match n % 10 {
            7 | 8 => missed += frames.len(),
            9 => {
                let gap = Frame::Gap(pleg_core::wire::Gap { dropped: missed as u64 });
                reader.handle_frame(&gap).unwrap();
                reader.handle_frame(&checkpoint).unwrap();
                for frame in &frames {
                    reader.handle_frame(frame).unwrap();
                }
                told.extend(expected);
            }
            _ => {
                for frame in &frames {
                    reader.handle_frame(frame).unwrap();
                }
                told.extend(expected);
            }
        }
    }
    assert_eq!(events(&mut reader), told);
    let numbers: Vec<u64> = reader.timeline().relists().iter().map(|relist| relist.n).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "a relist came twice: {numbers:?}");
}

#[test]
fn spans_lie_in_time() {
    let mut observer = Observer::new(5).unwrap();
    while observer.elapsed() < 600 * SECOND {
        observer.relist().unwrap();
    }
    let timeline = observer.follower.timeline();
    let spans = timeline.pods().iter().flat_map(|pod| &pod.lanes).flat_map(|lane| &lane.spans);
    let mut seen = 0;
    for span in spans {
        let mut previous = None;
        for (state, from, to) in span.stretches() {
            assert!(to.is_none_or(|to| from <= to), "{}: {state:?} from {from:?} to {to:?}", span.id);
            assert!(previous.is_none_or(|previous| previous == from), "{}: a hole", span.id);
            previous = to;
        }
        let (_, _, found) = timeline.find(&span.id).unwrap();
        assert_eq!(found.id, span.id);
        seen += 1;
    }
    assert!(seen > 100, "only {seen} spans");
}

#[test]
fn an_idle_relist_costs_less_than_300_bytes() {
    let mut observer = Observer::new(1).unwrap();
    let mut idle = Vec::new();
    while observer.elapsed() < 120 * SECOND {
        observer.relist().unwrap();
        let frames = observer.take_frames();
        let unchanged = frames.iter().any(|frame| matches!(frame, Frame::Delta(delta) if delta.is_empty()));
        if unchanged && frames.len() == 5 {
            idle.push(frames.iter().map(|frame| frame.to_line().unwrap().len()).sum::<usize>());
        }
    }
    assert!(idle.len() > 20, "only {} idle relists", idle.len());
    assert!(idle.iter().all(|bytes| *bytes < 300), "{idle:?}");
}
