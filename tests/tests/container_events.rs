//! What real runtimes sent over `GetContainerEvents` (`agent/cri/tests/fixtures`), followed as a kubelet with the gate
//! EventedPLEG does.
//!
//! `UPDATE_EXPECT=1` rewrites the expected lines in `container-events/`; read the difference.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use pleg_core::{
    cri::RpcError,
    follow::{Follower, Taken},
    pleg::StreamAction,
    time::SECOND,
    wire::{Done, Frame, Hello, Relist, RuntimeInfo, Stream, StreamNews, VERSION},
};
use std::{env, fs, path::Path};

/// The frames of an observer that reads these events, each a millisecond after it was made.
fn frames(runtime: &str) -> Vec<Frame> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = here.join("../agent/cri/tests/fixtures").join(runtime).join("GetContainerEvents.json");
    let events: Vec<pleg_cri::v1::ContainerEventResponse> =
        serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let wall = events.first().unwrap().created_at - SECOND;
    let mut frames = vec![hello(wall)];
    let mut say = |mono, what| {
        let n = frames.len() as u64;
        frames.push(Frame::Stream(Box::new(Stream { n, mono, what })));
    };
    say(0, StreamNews::Opened);
    let mut last = 0;
    for event in events {
        last = i64::max(last + 1, event.created_at - wall + SECOND / 1000);
        say(last, StreamNews::Event(Box::new(pleg_cri::container_event(event))));
    }
    say(last + 1, StreamNews::Dropped(2));
    say(last + 2, StreamNews::Failed(RpcError::new("Unavailable", "error reading from server")));
    frames.push(Frame::Relist(Relist { n: 1, wall: wall + last, mono: last + 3 }));
    frames.push(Frame::Done(Done { at: 1 }));
    frames
}

fn hello(wall: i64) -> Frame {
    Frame::Hello(Box::new(Hello {
        plegscope: VERSION,
        agent: "test".into(),
        node: "node".into(),
        boot: String::new(),
        runtime: RuntimeInfo::default(),
        kubelet: "1.36".into(),
        container_events: true,
        period: 300 * SECOND,
        threshold: 600 * SECOND,
        capacity: 1000,
        deadline: 120 * SECOND,
        wall,
        mono: 0,
    }))
}

/// Feeds frames as lines. Returns the events that come of them, as lines.
fn feed(follower: &mut Follower, frames: &[Frame]) -> String {
    let mut told = String::new();
    for frame in frames {
        let read = Frame::from_line(&frame.to_line().unwrap()).unwrap();
        assert_eq!(&read, frame);
        follower.handle_frame(&read).unwrap();
        while let Some(event) = follower.poll_event() {
            told += &event.to_json();
            told.push('\n');
        }
    }
    told
}

#[test]
fn recorded_streams_give_the_events_that_lie_beside() {
    for runtime in ["containerd-2.3.4", "cri-o-1.36.3"] {
        let mut follower = Follower::new();
        let told = feed(&mut follower, &frames(runtime));
        assert_eq!(follower.stream_action(), StreamAction::Open, "after the relist it is opened again");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("container-events");
        let expected = folder.join(format!("{runtime}.events.jsonl"));
        if env::var_os("UPDATE_EXPECT").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&expected, &told).unwrap();
        }
        assert_eq!(told, fs::read_to_string(expected).unwrap());
    }
}

#[test]
fn a_stream_that_comes_again_is_told_once() {
    let all = frames("containerd-2.3.4");
    let mut whole = Follower::new();
    let told = feed(&mut whole, &all);
    for cut in 1..all.len() {
        let mut follower = Follower::new();
        let again = feed(&mut follower, &all[..cut]) + &feed(&mut follower, &all);
        assert_eq!(again, told, "lost after frame {cut}");
        assert_eq!(follower.checkpoint(), whole.checkpoint(), "lost after frame {cut}");
    }
}

#[test]
fn who_comes_late_goes_on_with_the_stream() {
    let all = frames("cri-o-1.36.3");
    let mut observer = Follower::new();
    for (index, frame) in all.iter().enumerate() {
        feed(&mut observer, std::slice::from_ref(frame));
        let Some(checkpoint) = observer.checkpoint() else { continue };
        let checkpoint = Frame::Checkpoint(Box::new(checkpoint));
        let mut late = Follower::new();
        feed(&mut late, &[all[0].clone(), checkpoint]);
        let mut early = Follower::new();
        feed(&mut early, &all[..=index]);
        assert_eq!(late.stream_action(), early.stream_action());
        if let Frame::Stream(_) = frame {
            assert_eq!(late.handle_frame(frame).unwrap(), Taken::Repeated);
        }
        let rest = &all[index + 1..];
        assert_eq!(feed(&mut late, rest).lines().count(), feed(&mut early, rest).lines().count());
        assert_eq!(late.checkpoint(), early.checkpoint());
    }
}

#[test]
fn five_failures_end_it_for_good_also_for_who_comes_late() {
    let mut follower = Follower::new();
    feed(&mut follower, &[hello(0)]);
    for n in 1..=5 {
        let mono = n as i64 * 10;
        let error = RpcError::new("Unimplemented", "unknown method GetContainerEvents");
        let failed = Frame::Stream(Box::new(Stream { n, mono, what: StreamNews::Failed(error) }));
        let relist = Frame::Relist(Relist { n, wall: 0, mono: mono + 1 });
        assert_eq!(follower.stream_action(), StreamAction::Open);
        feed(&mut follower, &[failed]);
        assert_eq!(follower.stream_action(), StreamAction::Relist);
        feed(&mut follower, &[relist, Frame::Done(Done { at: 1 })]);
    }
    let mut late = Follower::new();
    feed(&mut late, &[hello(0), Frame::Checkpoint(Box::new(follower.checkpoint().unwrap()))]);
    for follower in [follower, late] {
        assert_eq!(follower.stream_action(), StreamAction::Nothing);
        assert_eq!(follower.engine().unwrap().config().relist_period, SECOND);
    }
}
