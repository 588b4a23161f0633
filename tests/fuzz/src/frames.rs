//! Lines that are read as frames, written and read again.

use pleg_core::wire::Frame;

/// Takes the bytes for lines, one frame each.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut frames = Vec::new();
    let mut all_good = true;
    for line in text.lines().filter(|line| !line.is_empty()) {
        match Frame::from_line(line) {
            Ok(frame) => {
                comes_back(&frame);
                frames.push(frame);
            }
            Err(error) => {
                all_good = false;
                assert!(error.start.chars().count() <= 40, "{error}");
            }
        }
    }
    assert_eq!(Frame::from_lines(&text).ok(), all_good.then_some(frames));
}

/// What is written is read as the same frame, and written as the same line.
pub(crate) fn comes_back(frame: &Frame) {
    if let Frame::Unknown(_) = frame {
        assert!(frame.to_line().is_err(), "what is not known cannot be written");
        return;
    }
    let line = frame.to_line().expect("a frame can be written");
    assert_eq!(line.find('\n'), Some(line.len() - 1), "a frame is one line: {line:?}");
    let again = Frame::from_line(&line).expect("what was written can be read");
    assert_eq!(again, *frame, "{line}");
    assert_eq!(again.to_line().expect("a frame can be written"), line);
}
