//! What the kubelet's PLEG sees, derived from what the container runtime said.
//!
//! The kubelet learns of containers that start and end from its Pod Lifecycle Event Generator: once a second it lists
//! all pods of the runtime (a *relist*), compares each with what it remembers, inspects those that changed, and sends
//! events. When the runtime hangs, PLEG hangs with it, and after three minutes the node is NotReady. This crate does the
//! same with the same input, and says at every step what it does.
//!
//! | module | what |
//! |---|---|
//! | [`cri`] | the words of CRI, as far as they matter here |
//! | [`snapshot`] | both listings of a relist, the lossless difference of two of them, a hash that proves it |
//! | [`kuberuntime`] | pods from listings, statuses from inspections: what kuberuntime makes of CRI |
//! | [`pleg`] | the engine: records, state changes, events, channel, cache, health |
//! | [`kubelet`] | what stands around it: sync loop, pod workers, node condition |
//! | [`wire`] | frames and captures: what the runtime said, and when |
//! | [`follow`] | from frames to engine and timeline |
//! | [`diagnose`] | what a probe of the runtime found: which single container hangs it |
//! | [`timeline`] | lanes and spans to be drawn |
//! | [`sim`] | a simulated node, for demos and tests |
//!
//! # What it does not do
//!
//! It makes no call to a runtime, reads no clock and no file, starts no thread: time is an argument, and what is to be
//! called comes out as a value. It keeps no hash map whose order could show. It does not panic on input, whatever that
//! is. It does not sync pods: of what the kubelet does with an event, [`kubelet`] has only who reads it and who waits.
//! What the runtime's `Status` says, how long a sync takes and which pods the API server knows is not visible in a relist
//! and no part of it.
//!
//! # The law
//!
//! After every `handle_*` call of [`pleg::Engine`], drain `poll_output`; answer every `Inspect` before the next relist.
//!
//! ```
//! use pleg_core::cri::{Container, ContainerMetadata, ContainerState, POD_UID_LABEL};
//! use pleg_core::kuberuntime::PodSet;
//! use pleg_core::pleg::{Config, Engine, Event, Listing, Output};
//! use pleg_core::pod::PodStatus;
//! use pleg_core::snapshot::Snapshot;
//! use pleg_core::time::{SECOND, Time};
//!
//! /// One relist: every pod that is to be inspected gets an empty status.
//! fn relist(engine: &mut Engine, now: Time, listing: Listing) -> Vec<Event> {
//!     engine.handle_relist(now);
//!     let (mut listing, mut events) = (Some(listing), Vec::new());
//!     while let Some(output) = engine.poll_output() {
//!         match output {
//!             Output::Relisting => engine.handle_listed(now, listing.take().unwrap()),
//!             Output::Inspect { pod } => engine.handle_inspected(now, &pod.uid, Ok(PodStatus::default().into())),
//!             Output::Event(event) => events.push(event),
//!             _ => {}
//!         }
//!     }
//!     events
//! }
//!
//! fn snapshot(state: ContainerState) -> Snapshot {
//!     let container = Container {
//!         id: "8d2f".into(),
//!         metadata: Some(ContainerMetadata { name: "web".into(), attempt: 0 }),
//!         image: Some("registry/web:1".into()),
//!         state,
//!         labels: [(POD_UID_LABEL.into(), "6f1c".into())].into(),
//!         ..Container::default()
//!     };
//!     Snapshot::new(vec![], vec![container])
//! }
//!
//! let mut engine = Engine::new(Config::default());
//!
//! let first = snapshot(ContainerState::Running);
//! let mut pods = PodSet::from_snapshot(&first, "containerd", Time(0));
//! for event in relist(&mut engine, Time(0), pods.listing()) {
//!     println!("{} {} {:?}", event.kind.name(), event.uid, event.data);
//!     # assert_eq!((event.kind.name(), &*event.uid), ("ContainerStarted", "6f1c"));
//! }
//!
//! let second = snapshot(ContainerState::Exited);
//! let changes = pods.apply(&second, &first.delta_to(&second), Time(SECOND));
//! for event in relist(&mut engine, Time(SECOND), changes) {
//!     println!("{} {} {:?}", event.kind.name(), event.uid, event.data);
//!     # assert_eq!((event.kind.name(), &*event.uid), ("ContainerDied", "6f1c"));
//! }
//! # assert_eq!(engine.drain_channel(usize::MAX).len(), 2);
//! // ContainerStarted 6f1c Some("8d2f")
//! // ContainerDied 6f1c Some("8d2f")
//! ```
//!
//! # Surprises
//!
//! Where the kubelet does what one would not expect, so does this crate. File names are those of Kubernetes v1.36.2.
//!
//! | what | upstream |
//! |---|---|
//! | A created container is unknown to PLEG, and a change to unknown sends nothing, though it has the pod inspected | `convertState`, `generateEvents`, `pleg/generic.go` |
//! | A sandbox is one more container: its events differ by nothing but the id | `getContainersFromPods`, `pleg/generic.go` |
//! | The record moves on before its events are sent: what a full channel refuses is never sent again | `reconcilePodRecord`, `pleg/generic.go` |
//! | A pod that never showed a container or sandbox keeps its record for good | `reconcilePodRecord`, `pleg/generic.go` |
//! | The relist time is that *before* the listing: an answer after four minutes leaves PLEG unhealthy, slow inspections after a fast one make it so | `Relist`, `pleg/generic.go` |
//! | `pleg_last_seen_seconds` moves only when health is asked | `Healthy`, `pleg/generic.go` |
//! | `running_containers` keeps the last number of a state that no container is in | `updateRunningPodAndContainerMetrics`, `pleg/generic.go` |
//! | A pod without addresses keeps the ones it had, as long as no sandbox is ready | `getPodIPs`, `pleg/generic.go` |
//! | Evented PLEG (to v1.36) gives up after five errors in all, however long it worked between them | `watchEventsChannel`, `pleg/evented.go` |
//! | Evented PLEG (to v1.36) counts a death twice when it is stopped and then deleted | `processCRIEvents`, `pleg/evented.go` |
//! | The sync loop sleeps on for up to 5 s after PLEG has recovered | `syncLoop`, `kubelet.go` |
//! | A pod that was synced waits for a relist that *begins* after its sync | `GetNewerThan`, `container/cache.go` |
//!
//! # Vocabulary
//!
//! The words are the kubelet's.
//!
//! - **Relist**: one round of listing all pods, comparing, inspecting, sending. A *pod relist* (v1.36) does it for one pod.
//! - **Pod record**: what PLEG remembers of a pod, the *old* pod against the *current* one of this listing.
//! - **Inspection** (`GetPodStatus`): the calls that find a pod's status; made for a pod whose containers changed.
//! - **Reinspection**: an inspection without a change, because the last one failed or somebody asked for it.
//! - **Sandbox**: the frame of a pod's containers. PLEG treats it as one more container: ready is running, not ready is
//!   exited.
//! - **Relist time**: when the last good listing *began*. **Threshold**: the age of it beyond which PLEG is unhealthy.
//! - **Held**: of a pod whose inspection failed: no event is sent and the record stays, until an inspection succeeds.
//! - **Stalled**: of a pod: its next sync waits for a cache entry newer than its last one.
//! - **Skip**: of the sync loop: it sleeps instead of reading events, because PLEG is unhealthy.
//! - **Discarded**: of an event that met a full channel. It is not made again.
#![no_std]

extern crate alloc;

pub mod cri;
pub mod diagnose;
pub mod follow;
pub mod id;
pub mod kubelet;
pub mod kuberuntime;
pub mod pleg;
pub mod pod;
pub mod sim;
pub mod snapshot;
pub mod time;
pub mod timeline;
pub mod wire;

/// For `skip_serializing_if`: what a reader fills in by itself is not written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
