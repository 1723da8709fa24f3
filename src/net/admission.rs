// SPDX-License-Identifier: BSD-2-Clause
//! The pool as the one who decides whether another client, channel or subscription is taken on.

use crate::ca::Admission;
use crate::pool;

/// Asks the pool: one load and a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct PoolAdmission;

impl Admission for PoolAdmission {
    #[inline]
    fn admits(&self, bytes: usize) -> bool {
        pool::admits(bytes)
    }
}
