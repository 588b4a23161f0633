//! A second, naive model of the kubelet's PLEG, and the engine compared with it on random histories.
//!
//! The model recomputes the whole node in every relist with loops over maps, in the order in which the kubelet
//! does it. It shares with the engine the words of input and output (pods, statuses, outputs) and no code.
//!
//! ```text
//!  seed ──► History ──┬─► Model                         ─► Seen, State ─┐
//!                     └─► Engine, by Listing::Full      ─► Seen, State ─┴─► equal after every step, or shrink
//!           and again with Listing::Changed
//! ```

mod agree;
mod counts;
mod driven;
mod generate;
mod history;
mod model;
mod print;
mod shrink;
mod trace;
mod world;

pub use agree::{Failure, agree, check};
pub use counts::Counts;
pub use generate::generate;
pub use history::{Action, Feed, History, Inspection, Item, Kubelet, Look, Plan, Setup, Step};
pub use shrink::shrink;
