//! What the kubelet does with the pods of the node: starts, restarts, ends and removes them, step by step.
//!
//! It knows at once what happened; whoever watches the runtime may be late, and that is the point of watching.
//! The durations of the runtime's work are those that a real containerd 1.6.20 takes on a small machine.

use super::{
    catalogue::{Kind, Run},
    identity::{container_annotations, image, image_ref},
    node::{Node, Phase, Pod, PodKey, Step},
    runtime::Exit,
    script::Scene,
};
use crate::{
    cri::{Container, ContainerMetadata, ContainerState, Sandbox, SandboxState},
    id::CriId,
    time::{Nanos, SECOND, Time},
};
use alloc::{borrow::ToOwned, string::String, vec::Vec};

/// Seconds between a container's end and its next start, by how often it ended in a row. The kubelet's own are
/// 10 s doubled up to 5 min (`MaxContainerBackOff`); these are shorter, so that a short look shows several.
const BACK_OFF_SECONDS: [i64; 5] = [1, 5, 10, 20, 40];
/// A container that ran as long as this starts its back-off anew: twice the longest one, as in the kubelet.
const BACK_OFF_RESET: Nanos = 80 * SECOND;
/// Percentage of a job's pods that fail.
const FAILING_JOBS: i64 = 20;

impl Node {
    /// Ends the attempt that runs, if one does.
    pub(super) fn kill(&mut self, at: Time, key: PodKey, index: usize, exit: Exit) {
        let slot = self.pods.get(&key).and_then(|pod| pod.slots.get(index));
        if let Some(id) = slot.and_then(|slot| slot.current.clone()) {
            self.end(at, key, index, &id, exit);
        }
    }

    pub(super) fn run_sandbox(&mut self, at: Time, key: PodKey) {
        let ip = self.next_ip();
        let id = CriId::from(self.dice.runtime_id());
        let Some(pod) = self.pods.get_mut(&key).filter(|pod| pod.phase != Phase::Ending) else { return };
        let sandbox = Sandbox {
            id: id.clone(),
            metadata: Some(pod.identity.sandbox_metadata(pod.sandbox_attempt)),
            state: SandboxState::Ready,
            created_at: at.0,
            labels: pod.identity.labels.clone(),
            annotations: pod.identity.annotations.clone(),
            runtime_handler: String::new(),
        };
        pod.sandbox_attempt += 1;
        pod.sandboxes.push(id);
        pod.phase = Phase::Starting;
        pod.slots.iter_mut().for_each(|slot| slot.placed = false);
        let ip = if pod.workload.host_network { String::new() } else { ip };
        self.runtime.add_sandbox(sandbox, ip);
        self.create_after(at, key, 0);
    }

    fn create_after(&mut self, at: Time, key: PodKey, index: usize) {
        let took = self.dice.millis((30, 70));
        self.plan_create(at + took, key, index);
    }

    fn plan_create(&mut self, at: Time, key: PodKey, index: usize) {
        if let Some(sandbox) = self.pods.get(&key).and_then(|pod| pod.sandboxes.last()).cloned() {
            self.plan(at, Step::Create(key, index, sandbox));
        }
    }

    /// Nothing when the pod has got another sandbox in the meantime: its containers are started in order again.
    pub(super) fn create(&mut self, at: Time, key: PodKey, index: usize, sandbox: CriId) {
        let id = CriId::from(self.dice.runtime_id());
        let Some(pod) = self.pods.get_mut(&key).filter(|pod| pod.runs_containers()) else { return };
        if pod.sandboxes.last() != Some(&sandbox) {
            return;
        }
        let Some(slot) = pod.slots.get_mut(index) else { return };
        let image = image(slot.task, pod.revision);
        self.runtime.add_container(Container {
            id: id.clone(),
            pod_sandbox_id: sandbox,
            metadata: Some(ContainerMetadata { name: slot.task.name.to_owned(), attempt: slot.attempt }),
            image_ref: image_ref(&image),
            image: Some(image),
            state: ContainerState::Created,
            created_at: at.0,
            labels: pod.identity.container_labels(slot.task.name),
            annotations: container_annotations(slot.task, pod.revision, slot.attempt),
        });
        slot.attempt += 1;
        slot.placed = true;
        slot.previous = slot.current.replace(id.clone());
        let took = self.dice.millis((150, 300));
        self.plan(at + took, Step::Start(key, index, id));
    }

    pub(super) fn start(&mut self, at: Time, key: PodKey, index: usize, id: &CriId) {
        let Some(pod) = self.pods.get_mut(&key).filter(|pod| pod.runs_containers()) else { return };
        let Some(slot) = pod.slots.get(index) else { return };
        let (run, is_init) = (slot.task.run, slot.is_init);
        let is_last = index + 1 == pod.slots.len();
        let next_waits = pod.slots.get(index + 1).is_some_and(|next| !next.placed);
        if is_last {
            pod.phase = Phase::Running;
        }
        let may_fail = !pod.workload.restarts();
        self.runtime.start(id, at);
        if next_waits && !is_init {
            self.create_after(at, key, index + 1);
        }
        let (after, code) = match run {
            Run::Serves { .. } => return,
            Run::Completes { after } => (after, i32::from(may_fail && self.dice.chance(FAILING_JOBS))),
            Run::Crashes { after } => (after, 1),
        };
        let ran = self.dice.millis(after);
        self.plan(at + ran, Step::End(key, index, id.clone(), Exit::code(code)));
    }

    pub(super) fn end(&mut self, at: Time, key: PodKey, index: usize, id: &CriId, exit: Exit) {
        let Some(started) = self.runtime.end(id, at, exit) else { return };
        self.remove_previous(key, index);
        let Some(pod) = self.pods.get_mut(&key) else { return };
        let Some(slot) = pod.slots.get_mut(index) else { return };
        match pod.phase {
            Phase::Starting if slot.is_init => self.create_after(at, key, index + 1),
            Phase::Starting | Phase::Running if pod.workload.restarts() => {
                let crashes = if at.since(started) < BACK_OFF_RESET { slot.crashes } else { 0 };
                slot.crashes = crashes + 1;
                let delay = self.back_off(crashes);
                self.plan_create(at + delay, key, index);
            }
            Phase::Starting | Phase::Running => self.finish(at, key, exit),
            Phase::Recreating | Phase::Ending | Phase::Finished => self.after_stop(at, key),
        }
    }

    /// The kubelet keeps one dead container of each name (`MaxPerPodContainerCount`), and a dead sandbox as long as
    /// it has containers.
    fn remove_previous(&mut self, key: PodKey, index: usize) {
        let Some(pod) = self.pods.get_mut(&key) else { return };
        let Some(previous) = pod.slots.get_mut(index).and_then(|slot| slot.previous.take()) else { return };
        self.runtime.remove_container(&previous);
        let newest = pod.sandboxes.last().cloned();
        let (kept, empty): (Vec<_>, Vec<_>) = pod
            .sandboxes
            .drain(..)
            .partition(|id| newest.as_ref() == Some(id) || self.runtime.has_containers(id));
        pod.sandboxes = kept;
        empty.iter().for_each(|id| self.runtime.remove_sandbox(id));
    }

    fn back_off(&mut self, crashes: usize) -> Nanos {
        let [.., longest] = BACK_OFF_SECONDS;
        let seconds = BACK_OFF_SECONDS.get(crashes).copied().unwrap_or(longest);
        self.dice.millis((seconds * 950, seconds * 1_080))
    }

    /// A job's container has ended: its sandbox is stopped, and the oldest finished pods are deleted.
    fn finish(&mut self, at: Time, key: PodKey, exit: Exit) {
        let Some(pod) = self.pods.get_mut(&key) else { return };
        pod.phase = Phase::Finished;
        let (workload, Some(keep)) = (pod.workload, pod.workload.kind.keeps()) else { return };
        if keep == 0 {
            return self.delete(at, key);
        }
        let stopped = self.dice.millis((300, 1_100));
        self.plan(at + stopped, Step::StopSandbox(key));
        if exit.code != 0 {
            // The Job controller's back-off limit allows another pod.
            let retried = self.dice.seconds((9, 12));
            self.plan(at + retried, Step::Scene(Scene::Spawn(workload)));
        }
        let finished = self.keys(|p| p.workload.name == workload.name && p.phase == Phase::Finished);
        for old in finished.iter().rev().skip(keep) {
            let later = self.dice.seconds((2, 7));
            self.plan(at + later, Step::Delete(*old));
        }
    }

    /// Deletes a pod: its containers are told to stop, then the sandbox goes, then what is left of both.
    pub(super) fn delete(&mut self, at: Time, key: PodKey) {
        let Some(pod) = self.pods.get_mut(&key).filter(|pod| pod.phase != Phase::Ending) else { return };
        pod.phase = Phase::Ending;
        self.stop_containers(at, key);
    }

    pub(super) fn kill_sandbox(&mut self, at: Time, key: PodKey) {
        let Some(pod) = self.pods.get_mut(&key).filter(|pod| pod.phase == Phase::Running) else { return };
        pod.phase = Phase::Recreating;
        if let Some(id) = pod.sandboxes.last() {
            self.runtime.stop_sandbox(id);
        }
        // The kubelet must see it first, which takes it up to a relist.
        let noticed = self.dice.millis((400, 1_500));
        self.stop_containers(at + noticed, key);
    }

    fn stop_containers(&mut self, at: Time, key: PodKey) {
        let Some(pod) = self.pods.get(&key) else { return };
        let running = pod.slots.iter().enumerate().filter_map(|(index, slot)| {
            let id = slot.current.clone().filter(|id| self.runtime.is_running(id))?;
            Some((index, id, slot.task))
        });
        let running: Vec<_> = running.collect();
        for (index, id, task) in &running {
            let (code, took) = task.stops_within(&mut self.dice);
            self.plan(at + took, Step::End(key, *index, id.clone(), Exit::code(code)));
        }
        if running.is_empty() {
            self.after_stop(at, key);
        }
    }

    /// Goes on once the last container of a pod has ended.
    fn after_stop(&mut self, at: Time, key: PodKey) {
        let Some(pod) = self.pods.get(&key) else { return };
        if pod.slots.iter().filter_map(|slot| slot.current.as_ref()).any(|id| self.runtime.is_running(id)) {
            return;
        }
        let (step, took) = match pod.phase {
            Phase::Ending => (Step::StopSandbox(key), (40, 150)),
            Phase::Recreating => (Step::RunSandbox(key), (300, 700)),
            Phase::Starting | Phase::Running | Phase::Finished => return,
        };
        let took = self.dice.millis(took);
        self.plan(at + took, step);
    }

    pub(super) fn stop_sandbox(&mut self, at: Time, key: PodKey) {
        let Some(pod) = self.pods.get(&key) else { return };
        if let Some(id) = pod.sandboxes.last() {
            self.runtime.stop_sandbox(id);
        }
        if pod.phase == Phase::Ending {
            let quick = pod.workload.kind == Kind::Job;
            let took = self.dice.millis(if quick { (40, 200) } else { (300, 1_300) });
            self.plan(at + took, Step::RemoveContainers(key));
        }
    }

    pub(super) fn remove_containers(&mut self, at: Time, key: PodKey) {
        let Some(pod) = self.pods.get_mut(&key) else { return };
        for slot in &mut pod.slots {
            for id in slot.previous.take().into_iter().chain(slot.current.take()) {
                self.runtime.remove_container(&id);
            }
        }
        let took = self.dice.millis((200, 2_200));
        self.plan(at + took, Step::RemoveSandboxes(key));
    }

    pub(super) fn remove_sandboxes(&mut self, key: PodKey) {
        let sandboxes = self.pods.remove(&key).map(|pod| pod.sandboxes);
        sandboxes.iter().flatten().for_each(|id| self.runtime.remove_sandbox(id));
    }
}

impl Pod {
    /// Whether the kubelet starts containers in it.
    fn runs_containers(&self) -> bool {
        matches!(self.phase, Phase::Starting | Phase::Running)
    }
}
