//! Every capture that a version of plegscope ever wrote still opens, and gives the events that it gave then.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use pleg_core::follow::Follower;
use pleg_core::wire::{CaptureReader, Frame};

fn events(capture: &[u8]) -> String {
    let (mut reader, mut frames) = (CaptureReader::new(), Vec::new());
    reader.push(capture, &mut frames).unwrap();
    assert_eq!(reader.finish().unwrap(), None, "it must be whole");
    let (mut follower, mut text) = (Follower::new(), String::new());
    for frame in frames {
        // As `plegscope replay` hands it on.
        let line = frame.to_line().unwrap();
        assert_eq!(Frame::from_line(&line).unwrap(), frame, "{line}");
        follower.handle_frame(&frame).unwrap();
        while let Some(event) = follower.poll_event() {
            text += &event.to_json();
            text.push('\n');
        }
    }
    text
}

#[test]
fn every_recording_gives_the_events_that_lie_beside_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings");
    let mut opened = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let capture = entry.unwrap().path();
        if capture.extension().is_some_and(|extension| extension == "plegcap") {
            let expected = fs::read_to_string(capture.with_extension("events.jsonl")).unwrap();
            assert_eq!(events(&fs::read(&capture).unwrap()), expected, "{}", capture.display());
            opened += 1;
        }
    }
    assert!(opened > 0, "there are recordings");
}
