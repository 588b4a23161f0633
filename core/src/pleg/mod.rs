//! The generic PLEG as a sans-I/O engine.

mod output;

pub use output::{ErrorText, Event, EventType, Health, Output, PlegState};
