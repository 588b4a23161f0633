//! The plegscope agent.
fn main() {}
