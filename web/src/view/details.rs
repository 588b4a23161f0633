//! Everything known about the chosen thing, as text.

mod call;
mod node;
mod pod;
mod relist;
mod span;

use super::hit::Target;
use crate::format::{self, Zone};
use pleg_core::{
    follow::{EventLine, Follower},
    time::Time,
    timeline::Timeline,
    wire::Hello,
};

/// How a value is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// As any other.
    #[default]
    Plain,
    /// As something that went wrong.
    Bad,
    /// As something to notice.
    Notice,
    /// As an id: in a fixed-width face, with a button to copy it.
    Id,
}

/// A name and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// How it is to be read.
    pub tone: Tone,
}

/// A row of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableRow {
    /// One text for each column.
    pub cells: Vec<String>,
    /// A second line below the first text.
    pub sub: String,
    /// How it is to be read.
    pub tone: Tone,
    /// What it stands for, to be chosen by a click.
    pub target: Option<Target>,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Its title.
    pub title: String,
    /// Names of its columns; those after the first `texts` hold numbers.
    pub columns: Vec<&'static str>,
    /// Number of columns that hold texts.
    pub texts: usize,
    /// Its rows.
    pub rows: Vec<TableRow>,
    /// Number of rows that were left out.
    pub more: usize,
}

/// Rows that a table shows at most: the page stays quick when a relist made thousands of calls.
const MAX_ROWS: usize = 250;

/// Everything known about something.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// What kind of thing it is.
    pub kind: &'static str,
    /// Its name.
    pub title: String,
    /// Where it belongs.
    pub subtitle: String,
    /// What is known, the most important first.
    pub facts: Vec<Fact>,
    /// What it consists of.
    pub tables: Vec<Table>,
}

/// What details are made from.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// Everything seen.
    pub timeline: &'a Timeline,
    /// All events, oldest first.
    pub events: &'a [EventLine],
    /// The kubelet as it is at the newest moment; none while an earlier one is shown, for which that is not kept.
    pub newest: Option<&'a Follower>,
    /// Who observes.
    pub hello: Option<&'a Hello>,
    /// Up to when things are shown.
    pub now: Time,
    /// Zone of clock times.
    pub zone: Zone,
}

impl Known<'_> {
    /// Everything known about a target; none when it is not there.
    pub fn details(self, target: Target) -> Option<Details> {
        match target {
            Target::Relist(n) => self.relist(n),
            Target::Call { relist, call } => self.call(relist, call),
            Target::Span(place) => self.span(place),
            Target::Mark { pod, mark } => self.mark(pod, mark),
            Target::Pod(pod) => self.pod(pod),
            Target::Node => self.node(),
        }
    }

    fn clock(self, time: Time) -> String {
        format::clock(time, self.zone, 3)
    }
}

impl Details {
    fn fact(&mut self, name: &'static str, value: impl Into<String>) {
        self.toned(name, value, Tone::Plain);
    }

    fn toned(&mut self, name: &'static str, value: impl Into<String>, tone: Tone) {
        let value = value.into();
        if !value.is_empty() {
            self.facts.push(Fact { name, value, tone });
        }
    }
}

impl Table {
    /// The first things come as rows, the others are only counted: they are many, and a row is dear.
    fn new<T>(
        title: String,
        texts: &[&'static str],
        numbers: &[&'static str],
        mut things: impl Iterator<Item = T>,
        row: impl Fn(T) -> TableRow,
    ) -> Self {
        let rows = things.by_ref().take(MAX_ROWS).map(row).collect();
        Self { title, columns: [texts, numbers].concat(), texts: texts.len(), rows, more: things.count() }
    }
}

impl TableRow {
    fn new<const N: usize>(cells: [String; N]) -> Self {
        Self { cells: cells.into(), ..Self::default() }
    }
}
