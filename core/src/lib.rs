//! What the kubelet's PLEG sees, derived from what the container runtime said.
//!
//! The crate is pure: no clock, no I/O, no hash order, no panic on input. Time is an argument.
#![no_std]

extern crate alloc;

pub mod cri;
pub mod follow;
pub mod id;
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
