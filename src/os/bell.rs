// SPDX-License-Identifier: BSD-2-Clause
//! Calling a task from any other one without waiting.

/// What one task waits for and any other may ring.
pub trait Bell: Send + Sync + 'static {
    /// Ends the current or the next [`Bell::wait`]. Never waits, takes no lock of ours.
    fn ring(&self);

    /// Waits until it is rung; rings that came before count once. One task does this.
    fn wait(&self);

    /// That task waits no more.
    fn close(&self) {}
}
