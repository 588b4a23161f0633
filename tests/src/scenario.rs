//! Text scenarios: a small node is described relist by relist, and what a follower makes of it is printed.
//!
//! ```text
//! at 1s                                       the next relist begins then
//! pod shop/cart: sandbox ready, app running   the pod is now so; `app#2 exited 137` is attempt 2, exit code 137
//! gone shop/cart                              the pod is no longer listed
//! fail ListContainers Unavailable: no socket  in the next relist, this call fails
//! fail shop/cart/app DeadlineExceeded: slow   in the next relist, the inspection of this container fails
//! slow shop/cart/app 90s                      in the next relist, this call takes so long; while it runs, how
//!                                             far the relist is, is printed
//! kubelet 1.35                                first line: which kubelet is followed, if not the newest
//! relist                                      and what came of it is printed
//! timeline                                    prints the lanes of all pods
//! ```

use crate::simulated::EPOCH;
use pleg_core::{
    cri::{self, Answer, Op, RpcError},
    follow::{EventLine, Follower, Progress},
    id::{CriId, Uid},
    pleg::Engine,
    snapshot::Snapshot,
    time::{GoDuration, MILLISECOND, Nanos, SECOND, Time},
    wire::{Call, Calling, Done, Frame, Hello, Relist, RuntimeInfo, VERSION},
};
use std::{collections::BTreeMap, error::Error, fmt::Write as _};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Runs a scenario. Returns its lines, each relist followed by what came of it.
///
/// # Errors
/// When a line is not understood, or the follower refuses a frame.
pub fn run(text: &str) -> Result<String> {
    let mut node = Node::new()?;
    for line in text.lines().filter(|line| !line.starts_with("  ")) {
        writeln!(node.out, "{line}")?;
        node.line(line).map_err(|error| format!("{line:?}: {error}"))?;
    }
    Ok(node.out)
}

struct Node {
    follower: Follower,
    /// Started from a checkpoint before the last relist: it must see the same events.
    late: Option<Follower>,
    hello: Frame,
    pods: BTreeMap<String, Vec<Item>>,
    failures: BTreeMap<String, RpcError>,
    delays: BTreeMap<String, Nanos>,
    listed: Option<Snapshot>,
    now: Nanos,
    relists: u64,
    out: String,
}

/// A sandbox or container.
#[derive(Clone)]
struct Item {
    name: String,
    attempt: u32,
    state: String,
    exit_code: i32,
    created_at: i64,
}

impl Node {
    fn new() -> Result<Self> {
        let hello = Frame::Hello(Box::new(Hello {
            plegscope: VERSION,
            agent: "test".into(),
            node: "node".into(),
            boot: String::new(),
            runtime: RuntimeInfo { name: "containerd".into(), ..RuntimeInfo::default() },
            kubelet: "1.36".into(),
            container_events: false,
            period: SECOND,
            threshold: 180 * SECOND,
            capacity: 6,
            deadline: 120 * SECOND,
            wall: EPOCH,
            mono: 0,
        }));
        let mut follower = Follower::new();
        follower.handle_frame(&hello)?;
        Ok(Self {
            follower,
            late: None,
            hello,
            pods: BTreeMap::new(),
            failures: BTreeMap::new(),
            delays: BTreeMap::new(),
            listed: None,
            now: 0,
            relists: 0,
            out: String::new(),
        })
    }

    fn line(&mut self, line: &str) -> Result<()> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "" | "#" => {}
            "kubelet" => self.kubelet(rest)?,
            "at" => self.now = seconds(rest)?,
            "pod" => self.pod(rest)?,
            "gone" => drop(self.pods.remove(rest).ok_or("no such pod")?),
            "fail" => {
                let (target, error) = rest.split_once(' ').ok_or("fail what?")?;
                let (code, message) = error.split_once(": ").ok_or("fail with CODE: MESSAGE")?;
                self.failures.insert(target.into(), RpcError::new(code, message));
            }
            "slow" => {
                let (target, time) = rest.split_once(' ').ok_or("slow what?")?;
                self.delays.insert(target.into(), seconds(time)?);
            }
            "relist" => self.relist()?,
            "timeline" => self.timeline()?,
            _ => return Err("unknown word".into()),
        }
        Ok(())
    }

    fn kubelet(&mut self, release: &str) -> Result<()> {
        if self.relists > 0 {
            return Err("too late: a relist has been".into());
        }
        if let Frame::Hello(hello) = &mut self.hello {
            hello.kubelet = release.into();
        }
        self.follower = Follower::new();
        self.follower.handle_frame(&self.hello)?;
        Ok(())
    }

    fn pod(&mut self, rest: &str) -> Result<()> {
        let (pod, items) = rest.split_once(": ").ok_or("a pod needs `: ` and its containers")?;
        let old = self.pods.get(pod).cloned().unwrap_or_default();
        let mut new = Vec::new();
        for item in items.split(", ") {
            let mut item = parse_item(item, EPOCH + self.now)?;
            if let Some(known) = old.iter().find(|old| (&old.name, old.attempt) == (&item.name, item.attempt))
            {
                item.created_at = known.created_at;
            }
            new.push(item);
        }
        self.pods.insert(pod.into(), new);
        Ok(())
    }

    fn relist(&mut self) -> Result<()> {
        self.relists += 1;
        self.late = self.join_late()?;
        let mono = self.now;
        self.feed(Frame::Relist(Relist { n: self.relists, wall: EPOCH + mono, mono }))?;
        let mut at = 0;
        while let Some((op, id)) = self.follower.next_call() {
            let took = self.call(op, id, at)?;
            at += took;
            if op == Op::ListContainers && !self.failures.contains_key(op.name()) {
                self.lists()?;
            }
        }
        self.feed(Frame::Done(Done { at }))?;
        self.now = mono + at;
        self.failures.clear();
        self.delays.clear();
        let health = self.follower.health(Time(EPOCH + self.now)).error();
        health.map_or(Ok(()), |text| writeln!(self.out, "  PLEG is not healthy: {text}"))?;
        self.report()
    }

    fn call(&mut self, op: Op, id: Option<CriId>, at: Nanos) -> Result<Nanos> {
        let target = id.as_ref().map_or_else(|| op.to_string(), ToString::to_string);
        let took = self.delays.get(&target).copied().unwrap_or(MILLISECOND);
        let error = self.failures.get(&target).cloned();
        let outcome = error.as_ref().map_or_else(|| "ok".into(), ToString::to_string);
        let what = if id.is_some() { format!("{op} of {target}") } else { target };
        writeln!(self.out, "  {what} {}: {outcome}", GoDuration(took))?;
        if took > MILLISECOND {
            self.feed(Frame::Calling(Calling { op, id: id.clone(), at }))?;
            self.progress()?;
        }
        let answer = match &error {
            None => id.as_ref().and_then(|id| self.answer(op, id)),
            Some(_) => None,
        };
        self.feed(Frame::Call(Box::new(Call { op, id, at, took, bytes: 0, error, answer })))?;
        Ok(took)
    }

    fn progress(&mut self) -> Result<()> {
        let Some(Progress { inspected, waiting, calls }) = self.follower.progress() else { return Ok(()) };
        let pods = inspected + waiting;
        writeln!(self.out, "  … {inspected} of {pods} pods inspected, {} calls to go", calls.total())?;
        let stalled: Vec<String> = self.follower.stalled_pods().map(|(uid, _)| uid.to_string()).collect();
        if !stalled.is_empty() {
            writeln!(self.out, "  … stalled: {}", stalled.join(", "))?;
        }
        Ok(())
    }

    fn lists(&mut self) -> Result<()> {
        let snapshot = self.snapshot();
        let frame = match &self.listed {
            None => Frame::Key(Box::new(snapshot.clone())),
            Some(old) => Frame::Delta(Box::new(old.delta_to(&snapshot))),
        };
        self.listed = Some(snapshot);
        self.feed(frame)
    }

    /// Every frame goes over the wire, to both followers.
    fn feed(&mut self, frame: Frame) -> Result<()> {
        let read = Frame::from_line(&frame.to_line()?)?;
        self.follower.handle_frame(&read)?;
        if let Some(late) = &mut self.late {
            late.handle_frame(&read)?;
        }
        Ok(())
    }

    fn join_late(&self) -> Result<Option<Follower>> {
        let Some(checkpoint) = self.follower.checkpoint() else { return Ok(None) };
        let line = Frame::Checkpoint(Box::new(checkpoint)).to_line()?;
        let mut late = Follower::new();
        late.handle_frame(&self.hello)?;
        late.handle_frame(&Frame::from_line(&line)?)?;
        Ok(Some(late))
    }

    fn report(&mut self) -> Result<()> {
        let seen = events(&mut self.follower);
        let late = self.late.as_mut().map(events).unwrap_or_default();
        if late != seen {
            return Err(format!("a late follower saw {late:?} instead of {seen:?}").into());
        }
        for event in seen {
            let lost = if event.discarded { " (discarded)" } else { "" };
            let exit = event.exit_code.map(|code| format!(" exit {code}")).unwrap_or_default();
            let (kind, pod) = (event.kind.name(), format!("{}/{}", event.namespace, event.pod));
            writeln!(self.out, "  {kind} {pod} {}#{}{exit}{lost}", event.subject(), event.attempt)?;
        }
        let held = self.follower.timeline().relists().last().map_or(0, |relist| relist.held);
        if held > 0 {
            writeln!(self.out, "  events of {held} pod held back")?;
        }
        self.sync_loop()?;
        self.cost()
    }

    /// Whether the sync loop skips, and how many events wait for it.
    fn sync_loop(&mut self) -> Result<()> {
        let sync_loop = self.follower.sync_loop(self.follower.now());
        let Some(skip) = sync_loop.and_then(|sync_loop| sync_loop.skip()) else { return Ok(()) };
        let waiting = self.follower.engine().map_or(0, Engine::channel_len);
        let (since, until) = (since_start(skip.since), since_start(skip.until));
        writeln!(
            self.out,
            "  the sync loop skips since {since} and looks again at {until}, {waiting} events wait"
        )?;
        Ok(())
    }

    /// What the relist cost against what was predicted, where they differ.
    fn cost(&mut self) -> Result<()> {
        let Some(relist) = self.follower.timeline().relists().last() else { return Ok(()) };
        let (made, predicted, kubelet) = (relist.calls.len() as u64, relist.predicted, relist.kubelet);
        if made != predicted.total() {
            writeln!(self.out, "  {made} of {} predicted calls", predicted.total())?;
        }
        if kubelet != predicted {
            writeln!(
                self.out,
                "  the kubelet makes {} calls for these {}",
                kubelet.total(),
                predicted.total()
            )?;
        }
        Ok(())
    }

    fn timeline(&mut self) -> Result<()> {
        for pod in self.follower.timeline().pods() {
            writeln!(self.out, "  {}/{}", pod.namespace, pod.name)?;
            for (lane, span) in
                pod.lanes.iter().flat_map(|lane| lane.spans.iter().map(move |span| (lane, span)))
            {
                write!(self.out, "    {}#{}", lane.kind.name(), span.attempt)?;
                for (state, from, to) in span.stretches() {
                    let to = to.map(|to| since_start(to).to_string()).unwrap_or_default();
                    write!(self.out, " {} {}..{to}", state.name(), since_start(from))?;
                }
                writeln!(self.out)?;
            }
        }
        Ok(())
    }

    fn snapshot(&self) -> Snapshot {
        let (mut sandboxes, mut containers) = (Vec::new(), Vec::new());
        for (pod, items) in &self.pods {
            for item in items {
                match item.name.as_str() {
                    "sandbox" => sandboxes.push(item.sandbox(pod)),
                    _ => containers.push(item.container(pod)),
                }
            }
        }
        Snapshot::new(sandboxes, containers)
    }

    fn answer(&self, op: Op, id: &CriId) -> Option<Answer> {
        let (pod, items) =
            self.pods.iter().find(|(pod, items)| items.iter().any(|item| item.id(pod) == **id))?;
        let item = items.iter().find(|item| item.id(pod) == **id)?;
        Some(match op {
            Op::PodSandboxStatus => Answer::Sandbox(Box::new(item.sandbox_answer(pod))),
            _ => Answer::Container(Some(Box::new(item.status(pod)))),
        })
    }
}

fn events(follower: &mut Follower) -> Vec<EventLine> {
    std::iter::from_fn(|| follower.poll_event()).collect()
}

fn since_start(time: Time) -> GoDuration {
    GoDuration(time.since(Time(EPOCH)))
}

fn seconds(text: &str) -> Result<Nanos> {
    let seconds: f64 = text.strip_suffix('s').ok_or("a time ends with s")?.parse()?;
    Ok((seconds * SECOND as f64) as Nanos)
}

fn parse_item(text: &str, created_at: i64) -> Result<Item> {
    let mut words = text.split(' ');
    let name = words.next().ok_or("an item needs a name")?;
    let (name, attempt) =
        name.split_once('#').map_or((name, Ok(0)), |(name, attempt)| (name, attempt.parse()));
    Ok(Item {
        name: name.into(),
        attempt: attempt?,
        state: words.next().ok_or("an item needs a state")?.into(),
        exit_code: words.next().unwrap_or("0").parse()?,
        created_at,
    })
}

impl Item {
    fn id(&self, pod: &str) -> String {
        let attempt = if self.attempt > 0 { format!("#{}", self.attempt) } else { String::new() };
        format!("{pod}/{}{attempt}", self.name)
    }

    fn metadata(&self, pod: &str) -> cri::SandboxMetadata {
        let (namespace, name) = pod.split_once('/').unwrap_or(("default", pod));
        cri::SandboxMetadata {
            name: name.into(),
            uid: Uid::from(format!("uid-{pod}")),
            namespace: namespace.into(),
            attempt: self.attempt,
        }
    }

    fn sandbox_state(&self) -> cri::SandboxState {
        if self.state == "ready" { cri::SandboxState::Ready } else { cri::SandboxState::NotReady }
    }

    fn container_state(&self) -> cri::ContainerState {
        match self.state.as_str() {
            "created" => cri::ContainerState::Created,
            "running" => cri::ContainerState::Running,
            "exited" => cri::ContainerState::Exited,
            _ => cri::ContainerState::Unknown,
        }
    }

    fn sandbox(&self, pod: &str) -> cri::Sandbox {
        cri::Sandbox {
            id: self.id(pod).into(),
            metadata: Some(self.metadata(pod)),
            state: self.sandbox_state(),
            created_at: self.created_at,
            ..cri::Sandbox::default()
        }
    }

    fn container(&self, pod: &str) -> cri::Container {
        let pod_names = self.metadata(pod);
        let labels = [
            (cri::POD_UID_LABEL, pod_names.uid.to_string()),
            (cri::POD_NAME_LABEL, pod_names.name),
            (cri::POD_NAMESPACE_LABEL, pod_names.namespace),
        ];
        cri::Container {
            id: self.id(pod).into(),
            pod_sandbox_id: format!("{pod}/sandbox").into(),
            metadata: Some(cri::ContainerMetadata { name: self.name.clone(), attempt: self.attempt }),
            image: Some("busybox".into()),
            state: self.container_state(),
            created_at: self.created_at,
            labels: labels.map(|(key, value)| (key.to_owned(), value)).into(),
            ..cri::Container::default()
        }
    }

    fn sandbox_answer(&self, pod: &str) -> cri::SandboxAnswer {
        let status = cri::SandboxStatus {
            id: self.id(pod).into(),
            metadata: Some(self.metadata(pod)),
            state: self.sandbox_state(),
            created_at: self.created_at,
            network: Some(cri::Network { ip: "10.0.0.1".into(), additional_ips: vec![] }),
        };
        cri::SandboxAnswer { status: Some(status), ..cri::SandboxAnswer::default() }
    }

    fn status(&self, pod: &str) -> cri::ContainerStatus {
        cri::ContainerStatus {
            id: self.id(pod).into(),
            metadata: Some(cri::ContainerMetadata { name: self.name.clone(), attempt: self.attempt }),
            state: self.container_state(),
            created_at: self.created_at,
            exit_code: self.exit_code,
            ..cri::ContainerStatus::default()
        }
    }
}
