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

    /// Through what puts are ended.
    fn puts(&self) -> Puts;
}

/// What all handles of an application share with the server.
#[derive(Debug)]
pub struct Puts(pub(super) Arc<Shared>);

static HOST: spin::Once<&'static dyn Host> = spin::Once::new();

/// What the handles of the C interface share: puts are ended through it, so that one whose process variable has been
/// deleted meanwhile is recognised by its token alone.
static SHARED: spin::Once<Arc<Shared>> = spin::Once::new();

/// Says which IOC the C interface means; the first call counts. To be called before any other task uses it: on one
/// processor, a task that preempts one that is in here would spin for ever. Nothing is left to set once tasks are there.
pub fn register(host: &'static dyn Host) {
    HOST.call_once(|| host);
    SHARED.call_once(|| host.puts().0);
}

/// What was registered with it.
pub(super) fn shared() -> Option<&'static Shared> {
    SHARED.get().map(|shared| &**shared)
}

/// What was registered.
pub(super) fn host() -> Option<&'static dyn Host> {
    HOST.get().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Application;

    struct One(Arc<Shared>);

    impl Host for One {
        fn create(
            &self,
            _: &str,
            _: &str,
            _: &[(&str, &str)],
            _: Option<Box<dyn PutHandler>>,
        ) -> Result<Pv, CreateError> {
            unreachable!("not in this test")
        }

        fn open(&self, _: &str, _: Option<Box<dyn PutHandler>>) -> Result<Pv, CreateError> {
            unreachable!("not in this test")
        }

        fn delete(&self, _: &Pv) -> bool {
            false
        }

        fn puts(&self) -> Puts {
            Puts(Arc::clone(&self.0))
        }
    }

    #[test]
    fn tasks_find_all_set_before_the_first_handle() {
        let one: &'static One = Box::leak(Box::new(One(Application::new().puts().0)));
        assert!(host().is_none() && shared().is_none());
        register(one);
        assert!(host().is_some());
        assert!(core::ptr::eq(shared().unwrap(), Arc::as_ptr(&one.0)));
    }
}
