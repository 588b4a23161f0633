//! The plegscope page: timelines of pods, containers and relists in the browser.
//!
//! [`store`] and [`view`] know nothing of the browser and are tested natively; the `page` module is built
//! for wasm32 only, with the dependencies that only that target has.

pub mod format;
pub mod store;
pub mod view;

#[cfg(test)]
mod testing;

#[cfg(target_arch = "wasm32")]
mod page;
#[cfg(target_arch = "wasm32")]
pub use page::run;
