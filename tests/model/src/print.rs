//! A history as text, close to the words of the text scenarios.

use crate::history::{Action, History, Inspection, Item, Kubelet, Look, Plan, Step};
use pleg_core::{
    id::Uid,
    time::{GoDuration, Nanos},
};
use std::fmt;

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let setup = &self.setup;
        let kubelet = match setup.kubelet {
            Kubelet::V1_36 => "1.36",
            Kubelet::V1_35 => "1.35",
        };
        write!(f, "kubelet {kubelet}, channel of {} events", setup.capacity)?;
        match (setup.gate, setup.evented_in_use) {
            (false, _) => writeln!(f)?,
            (true, false) => writeln!(f, ", gate EventedPLEG")?,
            (true, true) => writeln!(f, ", gate EventedPLEG, in use")?,
        }
        self.steps.iter().zip(1..).try_for_each(|(step, number)| writeln!(f, "{number:>3} {step}"))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Pod { place, look } => write!(f, "pod {look} (place {place})"),
            Step::Gone { place } => write!(f, "gone: what is at place {place}"),
            Step::Wait(nanos) => write!(f, "wait {}", GoDuration(*nanos)),
            Step::Relist(plan) => write!(f, "relist{plan}"),
            Step::RelistPod(uid, plan) => write!(f, "relist of {uid:?}{plan}"),
            Step::Serve(plan) => write!(f, "serve the oldest relist request{plan}"),
            Step::Start => f.write_str("start of the relist loop"),
            Step::Turn(plan) => write!(f, "turn of the relist loop{plan}"),
            Step::Act(action) => write!(f, "{action}"),
            Step::Update { period, threshold } => {
                write!(f, "update: period {}, threshold {}", GoDuration(*period), GoDuration(*threshold))
            }
        }
    }
}

impl fmt::Display for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Look { uid, sandboxes, containers, addresses } = self;
        write!(f, "{uid:?}:")?;
        sandboxes.iter().try_for_each(|item| write!(f, " sandbox {item},"))?;
        containers.iter().try_for_each(|item| write!(f, " container {item},"))?;
        match addresses {
            0 => f.write_str(" no address"),
            which => write!(f, " addresses {which}"),
        }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}#{} {}", self.runtime, self.id, self.attempt, self.state.name())
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Reinspect(uid) => write!(f, "request to reinspect {uid:?}"),
            Action::Request(uid, 1) => write!(f, "request to relist {uid:?}"),
            Action::Request(uid, times) => write!(f, "{times} requests to relist {uid:?}"),
            Action::SetCondition(uid, key) => write!(f, "set watch condition {key} of {uid:?}"),
            Action::ClearCondition(uid, key) => write!(f, "clear watch condition {key} of {uid:?}"),
            Action::Drain(max) => write!(f, "drain up to {max} events"),
            Action::CheckHealth => f.write_str("check health"),
            Action::Write(uid, ahead) => {
                write!(f, "another writes the status of {uid:?}, {} ahead", GoDuration(*ahead))
            }
            Action::Stop => f.write_str("stop of the relist loop"),
            Action::Restore => f.write_str("the engine goes on from a checkpoint"),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.order.is_empty() {
            write!(f, "\n      first: {}", list(&self.order, |uid| format!("{uid:?}")))?;
        }
        takes(f, "\n      listing takes", self.listing_takes)?;
        meanwhile(f, "while listing", &self.meanwhile)?;
        if self.listing_fails {
            f.write_str("\n      listing fails")?;
        }
        self.inspections.iter().try_for_each(|inspection| print_inspection(f, inspection))
    }
}

fn print_inspection(f: &mut fmt::Formatter<'_>, (uid, inspection): &(Uid, Inspection)) -> fmt::Result {
    write!(f, "\n      inspection of {uid:?}:")?;
    takes(f, " takes", inspection.takes)?;
    f.write_str(if inspection.fails { " fails" } else { " ok" })?;
    if inspection.sandboxes_changed {
        f.write_str(", sandboxes changed")?;
    }
    if inspection.container_gone {
        f.write_str(", first container gone")?;
    }
    takes(f, ", time stamp off by", inspection.stamp)?;
    if !inspection.meets.is_empty() {
        write!(f, ", meets {}", inspection.meets.join(" "))?;
    }
    meanwhile(f, "  meanwhile", &inspection.meanwhile)?;
    meanwhile(f, "  while conditions are checked", &inspection.while_checking)
}

fn takes(f: &mut fmt::Formatter<'_>, what: &str, nanos: Nanos) -> fmt::Result {
    if nanos == 0 { Ok(()) } else { write!(f, "{what} {}", GoDuration(nanos)) }
}

fn meanwhile(f: &mut fmt::Formatter<'_>, when: &str, actions: &[Action]) -> fmt::Result {
    if actions.is_empty() {
        return Ok(());
    }
    write!(f, "\n      {when}: {}", list(actions, |action| action.to_string()))
}

fn list<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join("; ")
}
