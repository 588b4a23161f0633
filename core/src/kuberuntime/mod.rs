//! From CRI answers to pods and their statuses, as the kubelet's kuberuntime does it.
//!
//! [`get_pods`] and [`PodSet`] are `GetPods(all = true)`: the first from two lists, the second following a snapshot
//! at the cost of its changes. [`Inspection`] is `GetPodStatus`: which calls to make, and the status that their
//! answers add up to; [`CostModel`] says beforehand how many there will be. Nothing here makes a call.

mod cost;
mod event;
mod inspection;
mod owners;
mod pod_set;
mod pods;

pub use cost::{Calls, CostModel};
pub use event::status_of_event;
pub use inspection::{Inspection, InspectionOptions};
pub use pod_set::PodSet;
pub use pods::get_pods;
