//! Observes the simulated node in virtual time: the frames that an agent would have sent.

use pleg_core::{
    cri::{Container, Op, RpcError, Sandbox},
    follow::{FollowError, Follower},
    id::CriId,
    sim::{SimAnswer, SimNode},
    snapshot::Snapshot,
    time::{MILLISECOND, Nanos, SECOND, Time},
    wire::{Call, Calling, Done, Frame, Hello, Relist, RuntimeInfo, VERSION},
};

/// Start of every story: 2026-01-01T00:00:00Z.
pub const EPOCH: i64 = 1_767_225_600 * SECOND;
/// A call that takes longer is announced, as the agent does.
const ANNOUNCED_AFTER: Nanos = 20 * MILLISECOND;

/// An observer of a simulated node.
pub struct Observer {
    /// What the observer itself derives.
    pub follower: Follower,
    node: SimNode,
    sandboxes: Vec<Sandbox>,
    last: Option<Snapshot>,
    relists: u64,
    mono: Nanos,
    frames: Vec<Frame>,
}

impl Observer {
    /// An observer whose node has this seed; its first frame, the hello, is ready.
    ///
    /// # Errors
    /// When its follower refuses the hello.
    pub fn new(seed: u64) -> Result<Self, FollowError> {
        let mut observer = Self {
            follower: Follower::new(),
            node: SimNode::new(seed, Time(EPOCH)),
            sandboxes: Vec::new(),
            last: None,
            relists: 0,
            mono: 0,
            frames: Vec::new(),
        };
        observer.say(hello())?;
        Ok(observer)
    }

    /// The frames since the last time that this was asked.
    pub fn take_frames(&mut self) -> Vec<Frame> {
        std::mem::take(&mut self.frames)
    }

    /// Nanoseconds since the start.
    pub fn elapsed(&self) -> Nanos {
        self.mono
    }

    /// One relist, and one second until the next.
    ///
    /// # Errors
    /// When the follower refuses a frame.
    pub fn relist(&mut self) -> Result<(), FollowError> {
        self.relists += 1;
        self.say(Frame::Relist(Relist { n: self.relists, wall: EPOCH + self.mono, mono: self.mono }))?;
        let mut at = 0;
        while let Some((op, id)) = self.follower.next_call() {
            at = self.call(op, id, at)?;
        }
        self.say(Frame::Done(Done { at }))?;
        self.mono += at + SECOND;
        Ok(())
    }

    /// Makes one call. Returns when it ended.
    fn call(&mut self, op: Op, id: Option<CriId>, at: Nanos) -> Result<Nanos, FollowError> {
        let reply = self.node.call(Time(EPOCH + self.mono + at), op, id.as_ref());
        if reply.took > ANNOUNCED_AFTER {
            self.say(Frame::Calling(Calling { op, id: id.clone(), at }))?;
        }
        let (took, bytes) = (reply.took, reply.bytes);
        let call = |error: Option<RpcError>, answer| {
            Frame::Call(Box::new(Call { op, id, at, took, bytes, error, answer }))
        };
        match reply.result {
            Err(error) => self.say(call(Some(error), None))?,
            Ok(SimAnswer::Answer(answer)) => self.say(call(None, Some(answer)))?,
            Ok(SimAnswer::Sandboxes(sandboxes)) => {
                self.sandboxes = sandboxes;
                self.say(call(None, None))?;
            }
            Ok(SimAnswer::Containers(containers)) => {
                self.say(call(None, None))?;
                self.lists(containers)?;
            }
        }
        Ok(at + took)
    }

    fn lists(&mut self, containers: Vec<Container>) -> Result<(), FollowError> {
        let snapshot = Snapshot::new(std::mem::take(&mut self.sandboxes), containers);
        let frame = match &self.last {
            None => Frame::Key(Box::new(snapshot.clone())),
            Some(last) => Frame::Delta(Box::new(last.delta_to(&snapshot))),
        };
        self.last = Some(snapshot);
        self.say(frame)
    }

    fn say(&mut self, frame: Frame) -> Result<(), FollowError> {
        self.follower.handle_frame(&frame)?;
        self.frames.push(frame);
        Ok(())
    }
}

fn hello() -> Frame {
    Frame::Hello(Box::new(Hello {
        plegscope: VERSION,
        agent: env!("CARGO_PKG_VERSION").into(),
        node: "demo".into(),
        boot: String::new(),
        runtime: RuntimeInfo { name: "simulated".into(), ..RuntimeInfo::default() },
        kubelet: "1.36".into(),
        container_events: false,
        period: SECOND,
        threshold: 20 * SECOND,
        capacity: 1000,
        deadline: 120 * SECOND,
        wall: EPOCH,
        mono: 0,
    }))
}
