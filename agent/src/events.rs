//! `plegscope events`: the lifecycle events that a capture's frames give.

use crate::{capture::Capture, memory::Memory, terminal::plain};
use pleg_core::{
    follow::{EventLine, Filter, Follower},
    id::short_id,
    wire::Frame,
};
use std::{
    io::{self, Write},
    path::Path,
    time::{Duration, SystemTime},
};

/// How events are printed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Style {
    /// JSON Lines instead of a table.
    pub(crate) json: bool,
    /// Only events that pass.
    pub(crate) filter: Filter,
}

/// Prints the events of a capture.
///
/// # Errors
/// When the file is no capture or damaged (what can be read is printed first), or nobody reads the output.
pub(crate) fn print(path: &Path, style: &Style, output: &mut impl Write) -> anyhow::Result<()> {
    let mut capture = Capture::open(path)?;
    let mut table = Table { output, style, begun: false };
    print_all(&mut capture, &mut Follower::new(), &mut table)?;
    Ok(table.output.flush()?)
}

fn print_all(
    capture: &mut Capture,
    follower: &mut Follower,
    table: &mut Table<'_, impl Write>,
) -> anyhow::Result<()> {
    let mut memory = Memory::default();
    while let Some(frame) = capture.next_frame()? {
        if let Err(error) = follower.handle_frame(&frame) {
            tracing::warn!(%error, "a frame does not fit the ones before it");
        }
        while let Some(event) = follower.poll_event() {
            table.print(&event)?;
        }
        if matches!(frame, Frame::Done(_)) {
            memory.forget_old(follower);
        }
    }
    Ok(())
}

struct Table<'a, W> {
    output: &'a mut W,
    style: &'a Style,
    begun: bool,
}

impl<W: Write> Table<'_, W> {
    fn print(&mut self, event: &EventLine) -> io::Result<()> {
        if !self.style.filter.matches_event(event) {
            return Ok(());
        }
        if self.style.json {
            return writeln!(self.output, "{}", event.to_json());
        }
        if !std::mem::replace(&mut self.begun, true) {
            writeln!(self.output, "{:<24}  {:>6}  {:<16}  POD, CONTAINER", "TIME", "RELIST", "EVENT")?;
        }
        writeln!(self.output, "{}", plain(&row(event)))
    }
}

fn row(event: &EventLine) -> String {
    let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(u64::try_from(event.time.0).unwrap_or(0));
    let time = humantime::format_rfc3339_millis(time);
    let mut row =
        format!("{time}  {:>6}  {:<16}  {}/{}", event.relist, event.kind.name(), event.namespace, event.pod);
    row += &match event.id {
        Some(_) => format!(" {}#{}", event.subject(), event.attempt),
        None => format!(" {}", event.subject()),
    };
    if let Some(id) = &event.id {
        row += &format!(" ({})", short_id(id));
    }
    if let Some(code) = event.exit_code {
        row += &format!(" exit code {code}");
    }
    if event.discarded {
        row += " DISCARDED: the channel was full";
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hello;
    use pleg_core::{
        time::SECOND,
        wire::{Done, Relist},
    };

    #[test]
    fn a_long_capture_is_not_kept_whole() {
        let relists = (1..=2_000_u32).flat_map(|n| {
            let mono = i64::from(n) * SECOND;
            [Frame::Relist(Relist { n: n.into(), wall: mono, mono }), Frame::Done(Done { at: 0 })]
        });
        let frames = std::iter::once(Frame::Hello(Box::new(hello()))).chain(relists);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, frames.map(|frame| frame.to_line().unwrap()).collect::<String>()).unwrap();
        let (mut capture, mut follower) = (Capture::open(file.path()).unwrap(), Follower::new());
        let mut table = Table { output: &mut Vec::new(), style: &Style::default(), begun: false };
        print_all(&mut capture, &mut follower, &mut table).unwrap();
        let kept = follower.timeline().relists().len();
        assert!((600..=660).contains(&kept), "{kept}");
    }
}
