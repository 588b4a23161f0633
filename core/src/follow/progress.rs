//! How far the running relist is.

/// Pods of the running relist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Pods whose inspection ended.
    pub inspected: usize,
    /// Changed pods that are still to be reconciled, the one being inspected counted. Each costs an
    /// inspection if its containers changed their states.
    pub waiting: usize,
}
