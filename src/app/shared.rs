// SPDX-License-Identifier: BSD-2-Clause
//! What all handles of an application share with the server.

use alloc::sync::Arc;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};

use spin::Once;

use super::completions::{Completions, PutToken};
use super::news::News;

/// Calls the server from any task: never waits.
pub trait Ring: Send + Sync {
    /// There is something for the server to see.
    fn ring(&self);
}

/// See the module's description.
pub(super) struct Shared {
    pub(super) news: News,
    pub(super) completions: Completions,
    /// The bell has been rung, or the server looks by itself when its update period is over: no need to ring.
    rung: AtomicBool,
    /// Set once before any value is.
    bell: Once<Arc<dyn Ring>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("rung", &self.rung).finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) const fn new() -> Self {
        Shared {
            news: News::new(),
            completions: Completions::new(),
            rung: AtomicBool::new(false),
            bell: Once::new(),
        }
    }

    /// Says how the server is called; the first one counts.
    pub(super) fn set_bell(&self, bell: Arc<dyn Ring>) {
        self.bell.call_once(|| bell);
    }

    /// Something was left for the server: calls it unless it will come anyway.
    #[inline]
    pub(super) fn call(&self) {
        if !self.rung.swap(true, Ordering::SeqCst)
            && let Some(bell) = self.bell.get()
        {
            bell.ring();
        }
    }

    /// Ends a put and has the server see it; false if there is none of this token any more.
    pub(super) fn complete(&self, token: PutToken, succeeded: bool) -> bool {
        let ended = self.completions.complete(token, succeeded);
        if ended {
            self.call();
        }
        ended
    }

    /// Somebody has called.
    pub(super) fn is_called(&self) -> bool {
        self.rung.load(Ordering::Acquire)
    }

    /// From now on the server has to be called again. What was left before is to be looked for after this.
    pub(super) fn listen(&self) {
        self.rung.store(false, Ordering::SeqCst);
    }
}
