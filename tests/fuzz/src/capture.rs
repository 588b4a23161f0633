//! Captures of any content, in pieces of any size, and what a follower makes of them.

use crate::frames::comes_back;
use miniz_oxide::deflate::compress_to_vec;
use pleg_core::{
    follow::Follower,
    wire::{CaptureError, CaptureReader, CutShort, Frame},
};

type Read = (Vec<Frame>, Result<Option<CutShort>, CaptureError>);

/// Takes the bytes for a capture file.
pub fn check(bytes: &[u8]) {
    let whole = read([bytes]);
    // Where to split follows from the bytes, so that a find can be repeated.
    let (at, size) = splits(bytes);
    let (start, end) = bytes.split_at(at);
    assert_eq!(read([start, end]), whole, "split at {at}");
    assert_eq!(read(bytes.chunks(size)), whole, "pieces of {size}");
    if bytes.starts_with(b"{") {
        compressed(start, end, &whole);
    }
    follow(&whole.0);
}

fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Read {
    let (mut reader, mut frames) = (CaptureReader::new(), Vec::new());
    for piece in pieces {
        if let Err(error) = reader.push(piece, &mut frames) {
            return (frames, Err(error));
        }
    }
    (frames, reader.finish())
}

/// A place in the bytes and a size of pieces, anywhere.
fn splits(bytes: &[u8]) -> (usize, usize) {
    let mix = |sum: usize, byte: &u8| sum.wrapping_mul(31).wrapping_add(usize::from(*byte));
    let number = bytes.iter().fold(bytes.len(), mix);
    (number % (bytes.len() + 1), 1 + number % 67)
}

/// The same text in two gzip members gives the same frames.
fn compressed(start: &[u8], end: &[u8], plain: &Read) {
    let file = [member(start), member(end)].concat();
    let (frames, end) = read([file.as_slice()]);
    assert_eq!(frames, plain.0);
    match (&end, &plain.1) {
        // An empty text in gzip is a whole file; without gzip it is none.
        (Ok(_), Err(CaptureError::NotACapture)) => assert!(frames.is_empty()),
        (end, plain) => assert_eq!(end, plain),
    }
}

fn member(text: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    bytes.extend(compress_to_vec(text, 1));
    bytes.extend([0; 8]);
    bytes
}

/// Whatever the frames say, a follower takes or refuses them, and what it knows can be asked for.
fn follow(frames: &[Frame]) {
    let mut follower = Follower::new();
    for frame in frames {
        // A refusal is as good as a step: nothing may be asked that panics after either.
        let refused = follower.handle_frame(frame).err();
        assert!(refused.is_none_or(|error| !error.to_string().is_empty()));
        look(&follower);
        while let Some(event) = follower.poll_event() {
            assert!(event.to_json().starts_with('{'));
        }
        restore(&follower);
    }
    follower.forget_before(follower.now());
    look(&follower);
}

/// Asks for all that a page would show.
fn look(follower: &Follower) {
    let now = follower.now();
    assert!(follower.health(now).error().is_none_or(|text| !text.is_empty()));
    let progress = follower.progress();
    assert!(follower.next_call().is_none() || progress.is_some(), "a call is made in a relist");
    if let Some(engine) = follower.engine() {
        assert!(engine.exported(now).count() > 0);
        assert_eq!(follower.sync_loop(now).is_some(), follower.hello().is_some());
    }
    assert!(follower.stalled_pods().count() == 0 || progress.is_some(), "pods wait for a relist");
    let timeline = follower.timeline();
    for pod in timeline.pods() {
        assert!(timeline.pod(&pod.uid).is_some(), "pod {}", pod.uid);
        for span in pod.lanes.iter().flat_map(|lane| &lane.spans) {
            assert!(span.stretches().count() > 0, "a span has a state");
        }
    }
    for relist in timeline.relists() {
        assert!(relist.running_call().is_none_or(|call| call.end.is_none()));
        assert!(relist.failed_listing().is_none_or(|call| call.error.is_some()));
    }
}

/// A reader that comes late learns from a checkpoint all that the one knows that wrote it.
fn restore(follower: &Follower) {
    let (Some(hello), Some(checkpoint)) = (follower.hello(), follower.checkpoint()) else { return };
    let frame = Frame::Checkpoint(Box::new(checkpoint.clone()));
    comes_back(&frame);
    let mut late = Follower::new();
    for frame in [Frame::Hello(Box::new(hello.clone())), frame] {
        late.handle_frame(&frame).expect("a checkpoint after its hello is taken");
    }
    assert_eq!(late.checkpoint(), Some(checkpoint));
}
