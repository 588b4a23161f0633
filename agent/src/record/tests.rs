//! The capture file under cuts, full disks and slow ones.

use super::{capture_file::*, writer::*, *};
use crate::testing::hello;
use pleg_core::wire::{CaptureReader, Frame, Gap, Tick};
use std::{
    os::unix::fs::PermissionsExt as _,
    sync::{Mutex, mpsc::sync_channel},
};

/// A disk with room for so many bytes.
#[derive(Clone, Default)]
struct Disk(Arc<Mutex<(Vec<u8>, usize)>>);

impl Disk {
    fn with_room(room: usize) -> Self {
        Self(Arc::new(Mutex::new((Vec::new(), room))))
    }

    fn make_room(&self, room: usize) {
        self.0.lock().unwrap().1 = room;
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().0.clone()
    }
}

impl io::Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (disk, room) = &mut *self.0.lock().unwrap();
        if *room == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let taken = bytes.len().min(*room);
        disk.extend_from_slice(&bytes[..taken]);
        *room -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Store for Disk {
    fn clear(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn tick(mono: i64) -> Utf8Bytes {
    Frame::Tick(Tick { mono }).to_line().unwrap().into()
}

fn head() -> Utf8Bytes {
    Frame::Hello(Box::new(hello())).to_line().unwrap().into()
}

fn frames(bytes: &[u8]) -> Vec<Frame> {
    let (mut reader, mut frames) = (CaptureReader::new(), Vec::new());
    reader.push(bytes, &mut frames).unwrap();
    frames
}

fn segment() -> Message {
    Message::Segment { head: head(), lost: 0 }
}

fn flushed(mono: i64) -> Message {
    Message::Line { line: tick(mono), flush: true }
}

/// Lines that do not compress.
fn noise() -> impl Iterator<Item = Utf8Bytes> {
    let mut random = 1_u64;
    std::iter::repeat_with(move || {
        let words = std::iter::repeat_with(|| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("{:016x}", random >> 1)
        });
        format!("{{\"noise\":\"{}\"}}\n", words.take(1_000).collect::<String>()).into()
    })
}

#[test]
fn a_file_cut_at_any_byte_gives_every_line_whose_flush_was_written() {
    let disk = Disk::with_room(usize::MAX);
    let mut file = CaptureFile::new(disk.clone(), BACKLOG);
    let mut ends = Vec::new();
    for mono in 0..60 {
        if mono % 20 == 0 {
            file.end_segment();
            file.push(&head());
        }
        file.push(&tick(mono));
        file.flush();
        ends.push(disk.bytes().len());
    }
    file.end_segment();
    let whole = disk.bytes();
    let all = frames(&whole);
    assert_eq!(all.len(), 63);
    for cut in 3..=whole.len() {
        let read = frames(&whole[..cut]);
        let flushed = ends.iter().filter(|end| **end <= cut).count();
        assert!(read.len() >= flushed, "cut at {cut}: {} of {flushed} lines", read.len());
        assert_eq!(read, all[..read.len()]);
    }
}

#[test]
fn a_full_disk_loses_nothing_once_there_is_room() {
    let disk = Disk::with_room(30);
    let mut file = CaptureFile::new(disk.clone(), BACKLOG);
    file.push(&head());
    for mono in 0..10 {
        file.push(&tick(mono));
        file.flush();
    }
    assert!(!file.is_written());
    assert_eq!(disk.bytes().len(), 30);
    disk.make_room(usize::MAX);
    file.end_segment();
    assert!(file.is_written());
    assert_eq!(frames(&disk.bytes()).len(), 11);
}

#[test]
fn a_disk_full_for_long_leaves_a_gap_and_a_new_segment() {
    let disk = Disk::with_room(0);
    let (messages, queue) = sync_channel(16);
    let progress = Arc::new(Progress::default());
    let (writers, store) = (Arc::clone(&progress), disk.clone());
    let thread = thread::spawn(move || write_all(&queue, CaptureFile::new(store, 1 << 16), &writers));
    messages.send(segment()).unwrap();
    let mut noise = noise();
    while !progress.behind.load(Ordering::Relaxed) {
        messages.send(Message::Line { line: noise.next().unwrap(), flush: true }).unwrap();
    }
    disk.make_room(usize::MAX);
    messages.send(flushed(7)).unwrap();
    messages.send(segment()).unwrap();
    messages.send(flushed(9)).unwrap();
    drop(messages);
    let missing = thread.join().unwrap();
    let read = frames(&disk.bytes());
    let [.., gap, Frame::Hello(_), Frame::Tick(Tick { mono: 9 })] = read.as_slice() else {
        panic!("ends with {:?}", read.last());
    };
    assert!(matches!(gap, Frame::Gap(gap) if gap.dropped >= 2), "{gap:?}");
    assert!(
        matches!(gap, Frame::Gap(gap) if missing == Missing { frames: gap.dropped, end: false }),
        "{missing:?}"
    );
}

#[test]
fn a_capture_that_is_not_whole_says_so_when_it_is_closed() {
    let mut recorder = Recorder::create(Path::new("/dev/full"), true).unwrap();
    recorder.begin_segment(head(), Time(0));
    recorder.push(&tick(2), true);
    let error = recorder.close().unwrap_err().to_string();
    assert_eq!(error, "the end of /dev/full could not be written: is the disk full?");
}

#[test]
fn while_the_disk_is_full_no_segment_is_made_in_vain() {
    let disk = Disk::with_room(0);
    let mut recorder = Recorder::start(Path::new("full"), disk.clone(), 1 << 16).unwrap();
    assert!(recorder.is_due(Time(0)), "nothing is begun yet");
    recorder.begin_segment(head(), Time(0));
    let mut noise = noise();
    while !recorder.progress.behind.load(Ordering::Relaxed) {
        recorder.push(&noise.next().unwrap(), true);
        thread::yield_now();
    }
    assert!(!recorder.is_due(Time(0)), "there is no room");
    assert!(!recorder.is_due(Time(SEGMENT_AGE)), "there is no room");
    disk.make_room(usize::MAX);
    while !recorder.is_due(Time(0)) {
        recorder.push(&tick(1), true);
        thread::yield_now();
    }
    recorder.begin_segment(head(), Time(0));
    assert!(!recorder.is_due(Time(0)), "once is enough");
    recorder.push(&tick(9), true);
    let error = recorder.close().unwrap_err().to_string();
    assert!(error.ends_with("are missing from full: its disk was full or too slow"), "{error}");
    let read = frames(&disk.bytes());
    let [.., Frame::Gap(_), Frame::Hello(_), Frame::Tick(Tick { mono: 9 })] = read.as_slice() else {
        panic!("ends with {:?}", read.last());
    };
}

/// A disk that takes nothing, and refuses nothing, until something is received.
struct Hanging(Disk, Receiver<()>);

impl io::Write for Hanging {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.recv().unwrap_or_default();
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Store for Hanging {
    fn clear(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_capture_that_ends_while_frames_are_missing_says_so() {
    let (hold, held) = sync_channel(0);
    let disk = Disk::with_room(usize::MAX);
    let mut recorder = Recorder::start(Path::new("slow"), Hanging(disk.clone(), held), BACKLOG).unwrap();
    recorder.begin_segment(head(), Time(0));
    while recorder.lost < 3 {
        recorder.push(&tick(1), false);
    }
    assert!(!recorder.is_due(Time(0)), "the disk hangs");
    drop(hold);
    while !recorder.is_due(Time(0)) {
        thread::yield_now();
    }
    let error = recorder.close().unwrap_err().to_string();
    assert_eq!(error, "3 frames are missing from slow: its disk was full or too slow");
    assert_eq!(frames(&disk.bytes()).last(), Some(&Frame::Gap(Gap { dropped: 3 })));
}

#[test]
fn a_segment_that_is_left_out_keeps_what_it_tells_to_be_missing() {
    let disk = Disk::with_room(0);
    let recorder = Recorder::start(Path::new("full"), disk.clone(), 1 << 10).unwrap();
    let send = |message| recorder.messages.send(message).unwrap();
    send(segment());
    send(Message::Line { line: noise().next().unwrap(), flush: true });
    send(Message::Segment { head: head(), lost: 4 });
    while !recorder.progress.behind.load(Ordering::Relaxed) {
        thread::yield_now();
    }
    disk.make_room(usize::MAX);
    send(flushed(1));
    send(segment());
    recorder.close().unwrap_err();
    let read = frames(&disk.bytes());
    let [.., Frame::Gap(Gap { dropped: 5 }), Frame::Hello(_)] = read.as_slice() else {
        panic!("ends with {:?}", read.last());
    };
}

#[test]
fn an_existing_file_is_kept_unless_forced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.plegcap");
    std::fs::write(&path, "precious").unwrap();
    let error = Recorder::create(&path, false).unwrap_err().to_string();
    assert!(error.ends_with("exists already: choose another name, or overwrite it with --force"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    Recorder::create(&path, true).unwrap().close().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious", "nothing was recorded over it");
    std::fs::write(&path, "precious".repeat(1_000)).unwrap();
    let mut recorder = Recorder::create(&path, true).unwrap();
    recorder.begin_segment(head(), Time(0));
    recorder.push(&tick(2), true);
    recorder.close().unwrap();
    assert_eq!(frames(&std::fs::read(&path).unwrap()).len(), 2);
    let new = folder.path().join("new.plegcap");
    Recorder::create(&new, false).unwrap().close().unwrap();
    assert_eq!(std::fs::metadata(&new).unwrap().permissions().mode() & 0o777, 0o600);
}
