//! What a probe tells while it goes on: lines for people, or JSON Lines.

use crate::terminal::plain;
use pleg_core::{
    diagnose::{Method, ProbeCall, SLOW, Verdict},
    time::{MILLISECOND, Nanos},
};
use serde::Serialize;
use std::{collections::BTreeMap, io};

/// Is told of everything as it happens.
pub(super) trait Report {
    /// A call has ended.
    fn called(&mut self, call: &ProbeCall) -> io::Result<()>;
    /// So many sandboxes and containers are now asked one by one.
    fn inspecting(&mut self, sandboxes: usize, containers: usize) -> io::Result<()>;
    /// The end.
    fn verdict(&mut self, verdict: &Verdict) -> io::Result<()>;
}

/// Lines for people: each listing, each inspection that is not as it should be, and a sum.
pub(super) struct Text<W> {
    output: W,
    inspections: BTreeMap<Method, Sum>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    calls: usize,
    answered: usize,
    slowest: Nanos,
}

impl<W: io::Write> Text<W> {
    pub(super) fn new(output: W) -> Self {
        Self { output, inspections: BTreeMap::new() }
    }
}

impl<W: io::Write> Report for Text<W> {
    fn called(&mut self, call: &ProbeCall) -> io::Result<()> {
        let ProbeCall { method, target, took, outcome } = call;
        if target.is_some() {
            let sum = self.inspections.entry(*method).or_default();
            sum.calls += 1;
            sum.answered += usize::from(outcome.is_answer());
            sum.slowest = sum.slowest.max(*took);
            if outcome.is_answer() && *took < SLOW {
                return Ok(());
            }
        }
        let took = millis(*took);
        write!(self.output, "{method:<25}{took:>12}  {}", plain(&outcome.to_string()))?;
        match target {
            Some(target) => writeln!(self.output, ": {}", plain(&target.to_string()))?,
            None => writeln!(self.output)?,
        }
        self.output.flush()
    }

    fn inspecting(&mut self, sandboxes: usize, containers: usize) -> io::Result<()> {
        writeln!(self.output, "Asking {sandboxes} sandboxes and {containers} containers one by one")?;
        self.output.flush()
    }

    fn verdict(&mut self, verdict: &Verdict) -> io::Result<()> {
        for (method, Sum { calls, answered, slowest }) in &self.inspections {
            let slowest = millis(*slowest);
            writeln!(self.output, "{method:<25}{slowest:>12}  at most, {answered} of {calls} answered")?;
        }
        writeln!(self.output, "\n{}", plain(&verdict.to_string()))?;
        self.output.flush()
    }
}

fn millis(nanos: Nanos) -> String {
    format!("{:.1} ms", nanos as f64 / MILLISECOND as f64)
}

/// JSON Lines: a `call` for each call, at the end a `verdict`.
pub(super) struct Json<W> {
    output: W,
}

impl<W: io::Write> Json<W> {
    pub(super) fn new(output: W) -> Self {
        Self { output }
    }

    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.output, line)?;
        writeln!(self.output)?;
        self.output.flush()
    }
}

#[derive(Serialize)]
struct CallLine<'a> {
    call: &'a ProbeCall,
}

#[derive(Serialize)]
struct VerdictLine<'a> {
    #[serde(flatten)]
    verdict: &'a Verdict,
    exit_code: u8,
    text: String,
}

impl<W: io::Write> Report for Json<W> {
    fn called(&mut self, call: &ProbeCall) -> io::Result<()> {
        self.line(&CallLine { call })
    }

    fn inspecting(&mut self, _: usize, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn verdict(&mut self, verdict: &Verdict) -> io::Result<()> {
        let text = verdict.to_string();
        self.line(&VerdictLine { verdict, exit_code: verdict.exit_code(), text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleg_core::{
        cri::Op,
        diagnose::{Outcome, Target, diagnose},
    };

    fn calls() -> Vec<ProbeCall> {
        let target = |container: &str| Target {
            id: "24ca50a19e37c344".into(),
            namespace: "shop".into(),
            pod: "web".into(),
            container: Some(container.into()),
            last_state: None,
        };
        let call = |method, target, took, outcome| ProbeCall { method, target, took, outcome };
        let status = Method::Relist(Op::ContainerStatus);
        vec![
            call(Method::Version, None, 400_000, Outcome::Answered),
            call(status, Some(target("app")), 1_200_000, Outcome::Answered),
            call(status, Some(target("log")), 2_000_000_000, Outcome::Hung),
        ]
    }

    fn told(report: &mut dyn Report) {
        for call in calls() {
            report.called(&call).unwrap();
        }
        report.verdict(&diagnose(&calls())).unwrap();
    }

    #[test]
    fn people_are_told_what_is_not_as_it_should_be() {
        let mut output = Vec::new();
        told(&mut Text::new(&mut output));
        assert_eq!(
            String::from_utf8(output).unwrap(),
            "\
Version                        0.4 ms  answered
ContainerStatus             2000.0 ms  no answer: shop/web/log (24ca50a19e37c)
ContainerStatus             2000.0 ms  at most, 1 of 2 answered

Inspection hangs: shop/web/log (24ca50a19e37c). Every relist that inspects it hangs.
"
        );
    }

    #[test]
    fn programs_get_a_line_for_each_call_and_one_for_the_verdict() {
        let mut output = Vec::new();
        told(&mut Json::new(&mut output));
        let text = String::from_utf8(output).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[2]["call"]["method"], "ContainerStatus");
        assert_eq!(lines[2]["call"]["target"]["pod"], "web");
        assert_eq!((&lines[3]["verdict"], &lines[3]["exit_code"]), (&"hangs".into(), &13.into()));
        assert_eq!(lines[3]["targets"][0]["container"], "log");
    }
}
