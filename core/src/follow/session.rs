//! What a follower knows of one observer, and how each frame moves it.

use super::{
    Checkpoint, EventLine, EventedState, FollowError,
    known::Known,
    running::{Running, Stage, answer, call_name},
};
use crate::{
    cri::Op,
    kubelet::Kubelet,
    kuberuntime::{CostModel, InspectionOptions, PodSet},
    pleg::{Config, Engine, Event, EventedOutput, Listing, Output, Profile},
    pod::Pod,
    snapshot::{Delta, Snapshot},
    time::Time,
    timeline::{self, Timeline},
    wire::{Call, Calling, Frame, Hello, Relist},
};
use alloc::{collections::VecDeque, string::ToString, sync::Arc};

/// What is known once the hello was read.
pub(super) struct Session {
    pub(super) hello: Hello,
    /// Name of the runtime that the pods are built with.
    pub(super) runtime: Arc<str>,
    pub(super) now: Time,
    pub(super) snapshot: Snapshot,
    pub(super) pods: PodSet,
    pub(super) engine: Engine,
    pub(super) evented: EventedState,
    /// Who reads the engine's events.
    pub(super) kubelet: Kubelet,
    pub(super) relist: Option<Running>,
    /// Number of the last relist that ended.
    pub(super) ended: u64,
    pub(super) known: Known,
    /// Number of the last event that was made: that of the relist, whether that had ended, and the event's own since.
    made: (u64, bool, usize),
    /// Number of the last event that was told. Relists are derived anew after an error.
    told: (u64, bool, usize),
}

impl Session {
    pub(super) fn new(hello: &Hello) -> Self {
        let runtime: Arc<str> = hello.runtime.name.as_str().into();
        let mut session = Self {
            now: Time(hello.wall),
            snapshot: Snapshot::default(),
            pods: PodSet::from_snapshot(&Snapshot::default(), &runtime, Time(hello.wall)),
            engine: Engine::new(config(hello)),
            kubelet: Kubelet::start(Time(hello.wall)),
            hello: hello.clone(),
            runtime,
            relist: None,
            ended: 0,
            known: Known::default(),
            evented: EventedState::default(),
            made: (0, false, 0),
            told: (0, false, 0),
        };
        session.start_evented();
        session
    }

    /// The same observer says more of itself. The runtime's name is part of what records are compared by, so it stays
    /// what it was at the first listing, as the kubelet's does (`newKubeGenericRuntimeManager` asks once).
    pub(super) fn introduce(&mut self, hello: &Hello) {
        self.hello.clone_from(hello);
        if self.engine.relist_time().is_none() {
            self.runtime = hello.runtime.name.as_str().into();
            self.pods = PodSet::from_snapshot(&self.snapshot, &self.runtime, self.now);
        }
    }

    /// Time of monotonic zero.
    pub(super) fn base(&self) -> Time {
        Time(self.hello.wall) - self.hello.mono
    }

    /// The last frame's moment on the monotonic clock.
    pub(super) fn mono(&self) -> i64 {
        self.now.since(self.base())
    }

    pub(super) fn handle_frame(
        &mut self,
        frame: &Frame,
        timeline: &mut Timeline,
        events: &mut VecDeque<EventLine>,
    ) -> Result<(), FollowError> {
        if matches!(frame, Frame::Relist(_) | Frame::Checkpoint(_)) {
            timeline.cut_running(self.now);
        }
        if let Some(now) = self.time_of(frame) {
            self.now = now;
            self.kubelet.handle_time(now, &mut self.engine);
            self.evented_time();
        }
        match frame {
            Frame::Checkpoint(checkpoint) => self.restore(checkpoint, timeline),
            Frame::Relist(relist) => self.relist(relist, timeline),
            Frame::Hello(_) | Frame::Gap(_) | Frame::Tick(_) | Frame::Live {} | Frame::Unknown(_) => {}
            Frame::Stream(frame) => self.stream(frame, timeline),
            Frame::Calling(calling) => self.calling(calling, timeline)?,
            Frame::Call(call) => self.call(call, timeline)?,
            Frame::Key(snapshot) => self.key(snapshot, timeline)?,
            Frame::Delta(delta) => self.delta(delta, timeline)?,
            Frame::Done(_) => self.finish(timeline)?,
        }
        self.drain(timeline, events);
        self.kubelet.handle_sent(self.now, &mut self.engine);
        Ok(())
    }

    /// The moment that a frame tells of; none for one that tells of none.
    fn time_of(&self, frame: &Frame) -> Option<Time> {
        let start = self.relist.as_ref().map(|running| running.start);
        match frame {
            Frame::Relist(relist) => Some(self.base() + relist.mono),
            Frame::Tick(tick) => Some(self.base() + tick.mono),
            Frame::Stream(stream) => Some(self.base() + stream.mono),
            Frame::Calling(calling) => start.map(|start| start + calling.at),
            Frame::Call(call) => start.map(|start| start + call.at + call.took),
            Frame::Done(done) => start.map(|start| start + done.at),
            _ => None,
        }
    }

    fn running(&mut self, kind: &'static str) -> Result<&mut Running, FollowError> {
        self.relist.as_mut().ok_or(FollowError::OutsideRelist(kind))
    }

    /// The running relist, when it waits for what both listings said.
    fn lists(&mut self, kind: &'static str) -> Result<&mut Running, FollowError> {
        let running = self.running(kind)?;
        match running.stage {
            Stage::Lists => Ok(running),
            _ => Err(running.unexpected(kind.into())),
        }
    }

    fn restore(&mut self, checkpoint: &Checkpoint, timeline: &mut Timeline) {
        self.relist = None;
        self.ended = checkpoint.relist;
        self.now = self.base() + checkpoint.mono;
        self.snapshot = checkpoint.snapshot.clone();
        // The records were made with it. Before checkpoints told, it was the hello's.
        self.runtime = checkpoint.runtime.as_ref().unwrap_or(&self.hello.runtime.name).as_str().into();
        self.pods = PodSet::from_snapshot(&self.snapshot, &self.runtime, self.now);
        self.engine = Engine::restore(config(&self.hello), checkpoint.engine.clone());
        self.restore_evented(checkpoint.evented.clone());
        self.made = (checkpoint.relist, true, 0);
        self.kubelet = checkpoint.kubelet.clone();
        self.kubelet.handle_time(self.now, &mut self.engine);
        timeline.forget_relists_after(checkpoint.relist);
        timeline.goes_on(checkpoint.relist, self.now, self.engine.relist_time());
        timeline.listed(self.now, &self.pods.listing());
        let statuses = self.engine.cache().entries().filter_map(|(_, entry)| entry.status.as_deref());
        statuses.for_each(|status| timeline.pod_inspected(status));
    }

    fn relist(&mut self, frame: &Relist, timeline: &mut Timeline) {
        let start = self.now;
        self.made = (frame.n, false, 0);
        self.evented_relist();
        self.relist = Some(Running::new(frame.n, start));
        timeline.relists_mut().push(timeline::Relist::new(frame, start));
        self.engine.handle_relist(start);
    }

    fn calling(&mut self, calling: &Calling, timeline: &mut Timeline) -> Result<(), FollowError> {
        self.running("calling")?;
        if let Some(relist) = timeline.relists_mut().last_mut() {
            relist.calling(calling);
        }
        let counted = self.relist.as_ref().is_some_and(|running| running.ahead.is_some());
        let ahead = if counted { None } else { Some(self.ahead()) };
        if let Some(running) = &mut self.relist
            && matches!(running.stage, Stage::Inspecting(..))
        {
            running.ahead = running.ahead.or(ahead);
        }
        Ok(())
    }

    fn call(&mut self, call: &Call, timeline: &mut Timeline) -> Result<(), FollowError> {
        let now = self.now;
        self.running("call")?;
        if let Some(relist) = timeline.relists_mut().last_mut() {
            relist.call(call);
        }
        let running = self.running("call")?;
        match (&mut running.stage, call.op, &call.error) {
            (Stage::Sandboxes, Op::ListPodSandbox, None) => running.stage = Stage::Containers,
            (Stage::Containers, Op::ListContainers, None) => running.stage = Stage::Lists,
            (Stage::Sandboxes, Op::ListPodSandbox, Some(error))
            | (Stage::Containers, Op::ListContainers, Some(error)) => {
                running.stage = Stage::Ending;
                self.engine.handle_list_failed(now, &error.to_string());
            }
            (Stage::Inspecting(_, inspection), op, _)
                if inspection.next_call() == call.id.clone().map(|id| (op, id)) =>
            {
                inspection.handle_answer(answer(call));
                self.inspected(timeline);
            }
            _ => return Err(running.unexpected(call_name(call.op, call.id.as_ref()))),
        }
        Ok(())
    }

    fn key(&mut self, snapshot: &Snapshot, timeline: &mut Timeline) -> Result<(), FollowError> {
        let start = self.lists("key")?.start;
        self.snapshot = snapshot.clone();
        self.pods = PodSet::from_snapshot(&self.snapshot, &self.runtime, start);
        self.listed(self.pods.listing(), timeline)
    }

    fn delta(&mut self, delta: &Delta, timeline: &mut Timeline) -> Result<(), FollowError> {
        let Running { n: relist, start, .. } = *self.lists("delta")?;
        self.snapshot.apply(delta).map_err(|error| FollowError::Delta { relist, error })?;
        let listing = self.pods.apply(&self.snapshot, delta, start);
        self.listed(listing, timeline)
    }

    fn listed(&mut self, listing: Listing, timeline: &mut Timeline) -> Result<(), FollowError> {
        let (now, running) = (self.now, self.running("a list")?);
        running.stage = Stage::Ending;
        timeline.listed(running.start, &listing);
        if let Some(relist) = timeline.relists_mut().last_mut() {
            relist.listed = Some(now);
        }
        self.engine.handle_listed(now, listing);
        Ok(())
    }

    fn inspect(&mut self, pod: &Arc<Pod>, timeline: &mut Timeline) {
        let (observer, cost) = (self.observer(), self.observer().inspection(pod));
        let options = observer.options;
        if let Some(running) = &mut self.relist {
            running.inspect(pod, cost, options);
        }
        if let Some(relist) = timeline.relists_mut().last_mut() {
            relist.predicted += cost;
            relist.kubelet += self.kubelet().inspection(pod);
        }
    }

    /// What inspections cost the observer. A kubelet before v1.36 lists the pod anew in each inspection; the observer spares
    /// the runtime these two calls, which see what the relist's own listings saw a moment before.
    pub(super) fn observer(&self) -> CostModel {
        let evented_gate = self.engine.config().evented_gate;
        CostModel { options: InspectionOptions { lists: false, evented_gate }, timestamps: self.timestamps() }
    }

    /// What inspections cost the kubelet that is followed.
    fn kubelet(&self) -> CostModel {
        let Config { profile, evented_gate, .. } = self.engine.config();
        CostModel { options: InspectionOptions::of(profile, *evented_gate), timestamps: self.timestamps() }
    }

    /// Only CRI-O fills the time stamps of a sandbox's answer.
    fn timestamps(&self) -> bool {
        *self.runtime == *"cri-o"
    }

    /// Ends the inspection of a pod once its last call is answered.
    fn inspected(&mut self, timeline: &mut Timeline) {
        let Some(running) = &mut self.relist else { return };
        let stage = core::mem::replace(&mut running.stage, Stage::Ending);
        match stage {
            Stage::Inspecting(uid, inspection) if inspection.next_call().is_none() => {
                running.inspected += 1;
                let result = inspection.finish().map(Arc::new);
                if let Ok(status) = &result {
                    timeline.pod_inspected(status);
                }
                self.engine.handle_inspected(self.now, &uid, result);
            }
            other => running.stage = other,
        }
    }

    fn finish(&mut self, timeline: &mut Timeline) -> Result<(), FollowError> {
        self.ended = self.running("done")?.n;
        self.relist = None;
        if let Some(relist) = timeline.relists_mut().last_mut() {
            relist.end = Some(self.now);
        }
        self.kubelet.handle_relisted(&self.engine);
        self.made = (self.ended, true, 0);
        self.evented_relisted();
        Ok(())
    }

    /// Takes what the engine decided. An inspection that needs no call is answered at once.
    fn drain(&mut self, timeline: &mut Timeline, events: &mut VecDeque<EventLine>) {
        while let Some(output) = self.engine.poll_output() {
            match output {
                Output::Inspect { pod } => {
                    self.inspect(&pod, timeline);
                    self.inspected(timeline);
                }
                Output::Event(event) => self.event(&event, false, timeline, events),
                Output::Discarded(event) | Output::Evented(EventedOutput::Discarded(event)) => {
                    self.event(&event, true, timeline, events)
                }
                Output::Held { pod, error } => timeline.held(self.now, &pod.uid, error),
                _ => {}
            }
        }
    }

    fn event(
        &mut self,
        event: &Event,
        discarded: bool,
        timeline: &mut Timeline,
        events: &mut VecDeque<EventLine>,
    ) {
        let relist = self.relist.as_ref().map_or(self.ended, |running| running.n);
        timeline.event(self.now, event, discarded);
        self.made.2 += 1;
        if self.made > self.told {
            self.told = self.made;
            events.push_back(EventLine::new(self.now, relist, event, discarded, timeline));
        }
    }
}

/// The kubelet that a hello asks for; a release that this version does not know is taken for the default one.
fn config(hello: &Hello) -> Config {
    Config {
        profile: Profile::of_release(&hello.kubelet).map_or_else(Profile::default, |(_, profile)| profile),
        relist_period: hello.period,
        relist_threshold: hello.threshold,
        channel_capacity: usize::try_from(hello.capacity).unwrap_or(usize::MAX),
        evented_gate: hello.container_events,
    }
}
