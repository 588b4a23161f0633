//! Damaged, shuffled and invented frames are refused or passed over; nothing panics, and a checkpoint heals.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use pleg_core::{
    follow::Follower,
    time::SECOND,
    wire::{CaptureReader, Frame},
};
use pleg_tests::simulated::Observer;

fn lines(seed: u64, seconds: i64) -> Vec<String> {
    let mut observer = Observer::new(seed).unwrap();
    while observer.elapsed() < seconds * SECOND {
        observer.relist().unwrap();
    }
    observer.take_frames().iter().map(|frame| frame.to_line().unwrap()).collect()
}

/// Feeds what can be read; what a follower refuses is fine.
fn feed(lines: &[String]) -> (Follower, usize) {
    let (mut follower, mut refused) = (Follower::new(), 0);
    for line in lines {
        match Frame::from_line(line) {
            Ok(frame) => refused += usize::from(follower.handle_frame(&frame).is_err()),
            Err(_) => refused += 1,
        }
    }
    while follower.poll_event().is_some() {}
    (follower, refused)
}

#[test]
fn damaged_lines_are_refused() {
    let lines = lines(1, 60);
    let mut random = fastrand::Rng::with_seed(1);
    let mut refused = 0;
    for _ in 0..60 {
        let mut damaged = lines.clone();
        for _ in 0..random.usize(1..20) {
            let at = random.usize(0..damaged.len());
            let mut bytes = std::mem::take(&mut damaged[at]).into_bytes();
            let byte = random.usize(0..bytes.len());
            bytes[byte] = random.u8(b' '..b'~');
            damaged[at] = String::from_utf8_lossy(&bytes).into_owned();
        }
        refused += feed(&damaged).1;
    }
    assert!(refused > 60, "only {refused} frames were refused");
}

#[test]
fn lines_in_any_order_are_refused_or_passed_over() {
    let lines = lines(2, 60);
    let mut random = fastrand::Rng::with_seed(2);
    let mut refused = 0;
    for _ in 0..60 {
        let mut shuffled = lines.clone();
        let from = random.usize(0..shuffled.len());
        random.shuffle(&mut shuffled[from..]);
        refused += feed(&shuffled).1;
    }
    assert!(refused > 0);
}

#[test]
fn a_checkpoint_heals_what_a_damaged_frame_broke() {
    let mut observer = Observer::new(3).unwrap();
    let mut reader = Follower::new();
    let mut broken = false;
    for n in 0..60 {
        observer.relist().unwrap();
        for frame in observer.take_frames() {
            // A delta is lost: the ones after it cannot be right.
            let lost = n == 20 && matches!(frame, Frame::Delta(_));
            broken |= !lost && reader.handle_frame(&frame).is_err();
        }
    }
    assert!(broken, "the loss was not noticed");
    assert_ne!(reader.snapshot(), observer.follower.snapshot());
    reader.handle_frame(&Frame::Checkpoint(Box::new(observer.follower.checkpoint().unwrap()))).unwrap();
    observer.relist().unwrap();
    for frame in observer.take_frames() {
        reader.handle_frame(&frame).unwrap();
    }
    assert_eq!(reader.checkpoint(), observer.follower.checkpoint());
}

#[test]
fn random_bytes_are_no_capture() {
    let mut random = fastrand::Rng::with_seed(4);
    for round in 0..2_000 {
        let mut bytes: Vec<u8> = (0..random.usize(0..400)).map(|_| random.u8(..)).collect();
        if round % 2 == 0 {
            bytes.splice(0..0, [0x1f, 0x8b, 8, random.u8(..), 0, 0, 0, 0, 0, 0]);
        }
        let (mut reader, mut frames) = (CaptureReader::new(), Vec::new());
        let result = reader.push(&bytes, &mut frames).map(|()| reader.finish());
        assert!(frames.is_empty(), "{result:?}");
    }
}

#[test]
fn extreme_numbers_are_only_numbers() {
    let hello = lines(5, 1).remove(0);
    for number in [i64::MIN.to_string(), i64::MAX.to_string(), "0".into(), "-1".into()] {
        let relist = format!(r#"{{"relist":{{"n":1,"wall":{number},"mono":{number}}}}}"#);
        let call = |op: &str| format!(r#"{{"call":{{"op":"{op}","at":{number},"took":{number}}}}}"#);
        let done = format!(r#"{{"done":{{"at":{number}}}}}"#);
        let key = r#"{"key":{"sandboxes":[],"containers":[]}}"#.to_string();
        let lines = [hello.clone(), relist, call("ListPodSandbox"), call("ListContainers"), key, done];
        let (follower, refused) = feed(&lines);
        assert_eq!(refused, 0);
        assert_eq!(follower.timeline().relists().len(), 1);
        assert!(follower.health(follower.now()).error().is_none_or(|text| text.contains("last seen active")));
    }
}
