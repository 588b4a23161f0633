//! What the whole-system tests are made of; the tests are the files under `tests/tests`.
//!
//! | | |
//! |---|---|
//! | [`scenario`], [`simulated`] | core alone, told in text and in virtual time |
//! | [`suite`] | runs tests of which some cannot run everywhere, and reports those as skipped |
//! | [`node`] | a containerd of its own for each test, with a CRI client |
//! | [`cri`] | that client: the only code of the project that changes pods |
//! | [`agent`] | `plegscope` as a process |
//! | [`browser`] | the page in Chromium |

pub mod agent;
pub mod browser;
pub mod cri;
pub mod node;
pub mod relay;
pub mod scenario;
pub mod simulated;
pub mod suite;
pub mod wait;
