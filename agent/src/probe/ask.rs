//! The calls of a probe, each with a bound on its time, a few at once.

use super::report::Report;
use crate::{
    clock::Clock,
    runtime::{Said, cri::CriSource},
};
use pleg_core::{
    cri::{Op, RpcError},
    diagnose::{Method, Outcome, ProbeCall, Target},
    time::Nanos,
};
use std::{io, time::Duration};
use tokio::{task::JoinSet, time::timeout};

/// What a probe may cost the runtime.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// How long a call is waited for.
    pub(super) timeout: Duration,
    /// How many inspections run at once.
    pub(super) concurrency: usize,
    /// Whether sandboxes are also inspected verbosely.
    pub(super) verbose: bool,
}

/// A probe on its way.
pub(super) struct Prober<'a> {
    source: CriSource,
    clock: Clock,
    bounds: Bounds,
    report: &'a mut dyn Report,
    calls: Vec<ProbeCall>,
}

impl<'a> Prober<'a> {
    pub(super) fn new(source: CriSource, bounds: Bounds, report: &'a mut dyn Report) -> Self {
        Self { source, clock: Clock::start(), bounds, report, calls: Vec::new() }
    }

    /// Makes all calls. What is `known` stands in for a list that does not come.
    ///
    /// # Errors
    /// When the report cannot be written.
    pub(super) async fn run(mut self, known: &[Target]) -> io::Result<Vec<ProbeCall>> {
        // Dropped with an unanswered call, it still does not know the version of CRI.
        let mut source = self.source.clone();
        let version = timed(self.clock, self.bounds.timeout, source.version()).await;
        self.source = source;
        if !self.note(version.call(Method::Version, None))? {
            return Ok(self.calls);
        }
        let known =
            |of_sandbox: bool| known.iter().filter(move |t| t.container.is_none() == of_sandbox).cloned();
        let sandboxes = self.list(Op::ListPodSandbox).await?.unwrap_or_else(|| known(true).collect());
        let containers = self.list(Op::ListContainers).await?.unwrap_or_else(|| known(false).collect());
        self.report.inspecting(sandboxes.len(), containers.len())?;
        self.inspect(Op::PodSandboxStatus, &sandboxes).await?;
        self.inspect(Op::ContainerStatus, &containers).await?;
        if self.bounds.verbose {
            self.ask(Method::VerbosePodSandboxStatus, &sandboxes).await?;
        }
        Ok(self.calls)
    }

    /// What a listing lists; none if it does not answer.
    async fn list(&mut self, op: Op) -> io::Result<Option<Vec<Target>>> {
        let source = &mut self.source;
        let listed =
            timed(self.clock, self.bounds.timeout, async { source.call(op, None).await.result }).await;
        self.note(listed.call(Method::Relist(op), None))?;
        Ok(match listed.result {
            Some(Ok(Said::Sandboxes(sandboxes))) => Some(sandboxes.iter().map(Target::sandbox).collect()),
            Some(Ok(Said::Containers(containers))) => {
                Some(containers.iter().map(Target::container).collect())
            }
            _ => None,
        })
    }

    async fn inspect(&mut self, op: Op, targets: &[Target]) -> io::Result<()> {
        self.ask(Method::Relist(op), targets).await
    }

    /// Asks about all, a few at once. Where none of the first ones is answered, the rest is not asked.
    async fn ask(&mut self, method: Method, targets: &[Target]) -> io::Result<()> {
        let Bounds { timeout, concurrency, .. } = self.bounds;
        let mut waiting = targets.iter();
        let mut running = JoinSet::new();
        let (mut answered, mut unanswered) = (0, 0);
        loop {
            while running.len() < concurrency && (answered > 0 || unanswered < 2 * concurrency) {
                let Some(target) = waiting.next() else { break };
                running.spawn(question(self.source.clone(), self.clock, timeout, method, target.clone()));
            }
            let Some(call) = running.join_next().await else { return Ok(()) };
            match self.note(call.map_err(io::Error::other)?)? {
                true => answered += 1,
                false => unanswered += 1,
            }
        }
    }

    /// Notes how a call went, and returns whether it was answered.
    fn note(&mut self, call: ProbeCall) -> io::Result<bool> {
        self.report.called(&call)?;
        let answered = call.outcome.is_answer();
        self.calls.push(call);
        Ok(answered)
    }
}

/// One inspection.
async fn question(
    mut source: CriSource,
    clock: Clock,
    bound: Duration,
    method: Method,
    target: Target,
) -> ProbeCall {
    let id = target.id.clone();
    let answer = async {
        match method {
            Method::Relist(op) => source.call(op, Some(&id)).await.result.map(drop),
            Method::VerbosePodSandboxStatus => source.verbose_sandbox_status(&id).await,
            Method::Version => source.version().await,
        }
    };
    timed(clock, bound, answer).await.call(method, Some(target))
}

/// What a call brought, and how long it took.
struct Timed<T> {
    took: Nanos,
    /// None when there was no answer within the bound.
    result: Option<Result<T, RpcError>>,
}

async fn timed<T>(
    clock: Clock,
    bound: Duration,
    call: impl Future<Output = Result<T, RpcError>>,
) -> Timed<T> {
    let begun = clock.mono();
    let result = timeout(bound, call).await.ok();
    Timed { took: clock.mono() - begun, result }
}

impl<T> Timed<T> {
    fn call(&self, method: Method, target: Option<Target>) -> ProbeCall {
        let outcome = match &self.result {
            None => Outcome::Hung,
            Some(Ok(_)) => Outcome::Answered,
            Some(Err(error)) => Outcome::of_error(error.clone()),
        };
        ProbeCall { method, target, took: self.took, outcome }
    }
}
