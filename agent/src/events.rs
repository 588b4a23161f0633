//! `plegscope events`: the lifecycle events that a capture's frames give.

use crate::{capture::Capture, terminal::plain};
use pleg_core::follow::{EventLine, Filter, Follower};
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
    let mut follower = Follower::new();
    let mut table = Table { output, style, begun: false };
    while let Some(frame) = capture.next_frame()? {
        if let Err(error) = follower.handle_frame(&frame) {
            tracing::warn!(%error, "a frame does not fit the ones before it");
        }
        while let Some(event) = follower.poll_event() {
            table.print(&event)?;
        }
    }
    Ok(table.output.flush()?)
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
        // As crictl does: 13 digits tell containers of a node apart.
        row += &format!(" ({})", id.chars().take(13).collect::<String>());
    }
    if let Some(code) = event.exit_code {
        row += &format!(" exit code {code}");
    }
    if event.discarded {
        row += " DISCARDED: the channel was full";
    }
    row
}
