// SPDX-License-Identifier: BSD-2-Clause
//! The one IOC of an image, as the C interface finds it.

use alloc::boxed::Box;

use alloc::sync::Arc;

use super::shared::Shared;
use super::{CreateError, PutHandler, Pv};

/// Creates and deletes process variables of the application, between two turns of the server.
pub trait Host: Sync {
    /// Creates a record whose values come from the application.
    fn create(
        &self,
        type_: &str,
        name: &str,
        fields: &[(&str, &str)],
        handler: Option<Box<dyn PutHandler>>,
    ) -> Result<Pv, CreateError>;

    /// Makes a record that a .db file has created the application's.
    fn open(&self, name: &str, handler: Option<Box<dyn PutHandler>>) -> Result<Pv, CreateError>;

    /// Deletes a process variable; false if it was deleted already.
    fn delete(&self, pv: &Pv) -> bool;
}

static HOST: spin::Once<&'static dyn Host> = spin::Once::new();

/// Says which IOC the C interface means; the first call counts. To be called before any other task uses it.
pub fn register(host: &'static dyn Host) {
    HOST.call_once(|| host);
}

/// What the handles of the C interface share, from the first of them on: puts are ended through it, so that one whose
/// process variable has been deleted meanwhile is recognised by its token alone.
static SHARED: spin::Once<Arc<Shared>> = spin::Once::new();

/// A handle is given out.
pub(super) fn share(pv: &Pv) {
    SHARED.call_once(|| Arc::clone(&pv.0.shared));
}

/// See [`share`].
pub(super) fn shared() -> Option<&'static Shared> {
    SHARED.get().map(|shared| &**shared)
}

/// What was registered.
pub(super) fn host() -> Option<&'static dyn Host> {
    HOST.get().copied()
}
