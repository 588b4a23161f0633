//! From the timeline to pixels: scale, then layout, then scene. Pure; painting is the page's last step.

pub mod details;
pub mod health;
pub mod hit;
pub mod layout;
pub mod marks;
pub mod node;
pub mod relists;
pub mod rows;
pub mod scale;
pub mod scene;
pub mod spans;
pub mod status;
pub mod theme;
