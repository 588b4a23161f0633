//! A stream that comes again is passed over to the very frame: nothing is told twice, nothing is lost.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use pleg_core::{
    cri::Op,
    follow::{Checkpoint, EventLine, Follower, Taken},
    time::SECOND,
    wire::{Call, Frame, Gap, Hello, RuntimeInfo, Tick},
};
use pleg_tests::simulated::Observer;

/// A stream from its hello on, with a sign of life after each relist.
fn stream(relists: usize) -> Vec<Frame> {
    let mut observer = Observer::new(3).unwrap();
    let mut frames = observer.take_frames();
    for _ in 0..relists {
        observer.relist().unwrap();
        frames.extend(observer.take_frames());
        frames.push(Frame::Tick(Tick { mono: observer.elapsed() - SECOND / 2 }));
    }
    frames
}

/// Feeds frames. Returns those that were news.
fn feed(follower: &mut Follower, frames: &[Frame]) -> Vec<Frame> {
    let mut news = Vec::new();
    for frame in frames {
        if follower.handle_frame(frame).unwrap() == Taken::News {
            news.push(frame.clone());
        }
    }
    news
}

fn events(follower: &mut Follower) -> Vec<EventLine> {
    std::iter::from_fn(|| follower.poll_event()).collect()
}

/// What a follower of the whole stream knows and tells.
fn whole(frames: &[Frame]) -> (Follower, Vec<EventLine>) {
    let mut follower = Follower::new();
    assert_eq!(feed(&mut follower, frames), frames, "all of it is news");
    let told = events(&mut follower);
    assert!(told.len() > 10, "only {} events", told.len());
    (follower, told)
}

fn assert_same(one: &Follower, other: &Follower, what: &str) {
    assert_eq!(one.checkpoint(), other.checkpoint(), "{what}");
    assert_eq!(one.timeline().relists(), other.timeline().relists(), "{what}");
}

#[test]
fn a_stream_lost_at_any_frame_goes_on_there() {
    let all = stream(12);
    let (expected, told) = whole(&all);
    for cut in 1..all.len() {
        let mut follower = Follower::new();
        let mut news = feed(&mut follower, &all[..cut]);
        news.extend(feed(&mut follower, &all));
        assert_eq!(news, all, "lost after frame {cut}");
        assert_eq!(events(&mut follower), told, "lost after frame {cut}");
        assert_same(&follower, &expected, &format!("lost after frame {cut}"));
    }
}

#[test]
fn a_past_that_begins_with_a_known_checkpoint_is_passed_over_too() {
    let all = stream(8);
    let (expected, told) = whole(&all);
    let mut observer = Follower::new();
    for (index, frame) in all.iter().enumerate() {
        feed(&mut observer, std::slice::from_ref(frame));
        let Some(checkpoint) = observer.checkpoint().filter(|checkpoint| checkpoint.relist > 0) else {
            continue;
        };
        let mut past = vec![all[0].clone(), Frame::Checkpoint(Box::new(checkpoint))];
        past.extend_from_slice(&all[index + 1..]);
        for cut in index + 1..all.len() {
            let what = format!("begins after {index}, lost after {cut}");
            let mut follower = Follower::new();
            let mut news = feed(&mut follower, &all[..cut]);
            news.extend(feed(&mut follower, &past));
            assert_eq!(news, all, "{what}");
            assert_eq!(events(&mut follower), told, "{what}");
            assert_same(&follower, &expected, &what);
        }
    }
}

#[test]
fn a_past_that_begins_later_is_taken_from_its_checkpoint() {
    let all = stream(8);
    let (expected, _) = whole(&all);
    let checkpoint = Frame::Checkpoint(Box::new(expected.checkpoint().unwrap()));
    let last = all.iter().rposition(|frame| matches!(frame, Frame::Relist(_))).unwrap();
    let mut follower = Follower::new();
    feed(&mut follower, &all[..last + 2]);
    let news = feed(&mut follower, &[all[0].clone(), checkpoint.clone(), Frame::Live {}]);
    assert_eq!(news, [checkpoint]);
    assert_eq!(follower.checkpoint(), expected.checkpoint());
}

#[test]
fn a_past_that_comes_again_fills_a_gap() {
    let all = stream(8);
    let (expected, told) = whole(&all);
    for cut in 2..all.len() {
        let mut follower = Follower::new();
        feed(&mut follower, &all[..cut]);
        feed(&mut follower, &[Frame::Gap(Gap { dropped: 9 })]);
        assert_eq!(follower.checkpoint(), None, "frames are missing");
        feed(&mut follower, &all);
        assert_eq!(events(&mut follower), told, "gap after frame {cut}");
        assert_same(&follower, &expected, &format!("gap after frame {cut}"));
    }
}

/// What the hub hands on of a stream with a gap that a repeated past filled: the gap, but not what it passed over.
#[test]
fn a_gap_between_two_relists_is_none() {
    let all = stream(8);
    let (expected, told) = whole(&all);
    for (end, _) in all.iter().enumerate().filter(|(_, frame)| matches!(frame, Frame::Done(_))) {
        let mut follower = Follower::new();
        feed(&mut follower, &all[..=end]);
        feed(&mut follower, &[Frame::Gap(Gap { dropped: 1 })]);
        feed(&mut follower, &all[end + 1..]);
        assert_eq!(events(&mut follower), told, "gap after frame {end}");
        if end + 2 < all.len() {
            assert_same(&follower, &expected, &format!("gap after frame {end}"));
        }
        assert_eq!(follower.timeline().holes(), []);
    }
}

#[test]
fn what_was_not_observed_is_a_hole_and_a_cut_relist_does_not_run() {
    let all = stream(8);
    let starts: Vec<_> = (0..all.len()).filter(|n| matches!(all[*n], Frame::Relist(_))).collect();
    let mut observer = Follower::new();
    feed(&mut observer, &all[..starts[6]]);
    let checkpoint = Frame::Checkpoint(Box::new(observer.checkpoint().unwrap()));
    for cut in starts[2]..starts[5] {
        let what = format!("cut after frame {cut}");
        let mut follower = Follower::new();
        feed(&mut follower, &all[..=cut]);
        let seen = follower.now();
        feed(&mut follower, &[Frame::Gap(Gap { dropped: 1 }), checkpoint.clone()]);
        let relists = follower.timeline().relists();
        assert!(relists.iter().all(|relist| relist.end.is_some_and(|end| end <= seen)), "{what}");
        let begun = starts.iter().filter(|start| **start <= cut).count();
        let whole = matches!(all[cut], Frame::Done(_) | Frame::Tick(_));
        assert_eq!(relists.iter().filter(|relist| relist.cut).count(), usize::from(!whole), "{what}");
        assert_eq!(relists.len(), begun, "{what}");
        let [hole] = follower.timeline().holes() else { panic!("{what}") };
        assert_eq!(Some(hole.from), relists.last().and_then(|relist| relist.end), "{what}");
        assert_eq!(
            (hole.to, hole.relist_time),
            (observer.now(), observer.engine().unwrap().relist_time()),
            "{what}"
        );
        feed(&mut follower, &all[starts[6]..]);
        assert_eq!(follower.checkpoint(), whole_checkpoint(&all), "{what}");
    }
}

fn whole_checkpoint(frames: &[Frame]) -> Option<Checkpoint> {
    whole(frames).0.checkpoint()
}

/// The observer learns the runtime's name after its first listing, so its records have none. Who begins with a later
/// checkpoint must compare with the same: else every container would die and start once more.
#[test]
fn a_reader_that_comes_late_knows_the_runtime_as_the_records_do() {
    let mut all = stream(12);
    let Frame::Hello(named) = all[0].clone() else { panic!("no hello") };
    let nameless = Hello { runtime: RuntimeInfo::default(), ..(*named).clone() };
    all[0] = Frame::Hello(Box::new(nameless));
    let first_end = all.iter().position(|frame| matches!(frame, Frame::Done(_))).unwrap();
    all.insert(first_end + 1, Frame::Hello(named.clone()));
    let mut observer = Follower::new();
    for (index, frame) in all.iter().enumerate() {
        feed(&mut observer, std::slice::from_ref(frame));
        events(&mut observer);
        let Some(checkpoint) = observer.checkpoint().filter(|checkpoint| checkpoint.relist > 0) else {
            continue;
        };
        let mut late = Follower::new();
        feed(&mut late, &[Frame::Hello(named.clone()), Frame::Checkpoint(Box::new(checkpoint))]);
        let rest = &all[index + 1..];
        let mut whole = Follower::new();
        feed(&mut whole, &all[..=index]);
        events(&mut whole);
        feed(&mut whole, rest);
        feed(&mut late, rest);
        assert_eq!(events(&mut late), events(&mut whole), "from frame {index} on");
        assert_eq!(late.checkpoint(), whole.checkpoint(), "from frame {index} on");
    }
}

#[test]
fn what_a_damaged_frame_broke_is_derived_anew_and_told_once() {
    let all = stream(12);
    let (expected, told) = whole(&all);
    let ends: Vec<_> = (0..all.len()).filter(|n| matches!(all[*n], Frame::Done(_))).collect();
    let mut observer = Follower::new();
    feed(&mut observer, &all[..=ends[1]]);
    let mut past = vec![all[0].clone(), Frame::Checkpoint(Box::new(observer.checkpoint().unwrap()))];
    past.extend_from_slice(&all[ends[1] + 1..]);
    let id = Some("unheard of".into());
    let call = Call { op: Op::PodSandboxStatus, id, at: 0, took: 0, bytes: 0, error: None, answer: None };
    let misplaced = Frame::Call(Box::new(call));
    for cut in ends[2] + 1..all.len() {
        let mut follower = Follower::new();
        feed(&mut follower, &all[..cut]);
        follower.handle_frame(&misplaced).unwrap_err();
        assert_eq!(follower.handle_frame(&all[cut]), Ok(Taken::News), "it cannot be shown, but is kept");
        feed(&mut follower, &past);
        assert_eq!(events(&mut follower), told, "broken after frame {cut}");
        assert_same(&follower, &expected, &format!("broken after frame {cut}"));
    }
}

#[test]
fn another_observer_is_all_news() {
    let all = stream(3);
    let Frame::Hello(hello) = &all[0] else { panic!("no hello") };
    let other = Frame::Hello(Box::new(Hello { mono: hello.mono + 1, ..(**hello).clone() }));
    let again: Vec<Frame> = std::iter::once(other).chain(all[1..].iter().cloned()).collect();
    let mut follower = Follower::new();
    feed(&mut follower, &all);
    events(&mut follower);
    assert_eq!(feed(&mut follower, &again), again);
    assert_eq!(events(&mut follower), whole(&again).1);
}
