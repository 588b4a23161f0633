//! The plegscope page.
