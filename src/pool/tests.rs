// SPDX-License-Identifier: BSD-2-Clause
//! The rules of the pool, on a heap that is played by numbers.

extern crate std;

use core::sync::atomic::{AtomicUsize, Ordering};
use std::boxed::Box;

use super::*;
use crate::heap::tier_b::Searches;
use crate::heap::walk::Totals;

/// 100 kB free in blocks of at most 60 kB; counts the questions.
struct Played(AtomicUsize);

impl Source for Played {
    fn has_block(&self, bytes: usize) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        bytes <= 60_000
    }
    fn largest(&self) -> usize {
        60_000
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot { free_bytes: 100_000, ..Snapshot::default() }
    }
    fn searches(&self) -> Searches {
        Searches::default()
    }
    fn walk(&self) -> Totals {
        Totals { free_bytes: 100_000, ..Totals::default() }
    }
    fn free_list(&self) -> Totals {
        Totals { largest_free: 60_000, ..Totals::default() }
    }
}

fn played() -> (Pool, &'static Played) {
    let source: &'static Played = Box::leak(Box::new(Played(AtomicUsize::new(0))));
    let pool = Pool::new();
    pool.register(source);
    (pool, source)
}

#[test]
fn the_published_bound_answers_alone() {
    let (pool, source) = played();
    pool.publish(60_000);
    assert!(pool.admits(10_000 - OVERHEAD));
    assert!(!pool.admits(10_001 - OVERHEAD));
    assert_eq!(source.0.load(Ordering::Relaxed), 0);
}

#[test]
fn a_heap_with_nothing_free_is_not_asked() {
    let (pool, source) = played();
    pool.set_reserve(0);
    pool.publish(NOTHING_FREE);
    assert!(!pool.admits(0) && !pool.admits(1) && !pool.admits(usize::MAX));
    assert_eq!(source.0.load(Ordering::Relaxed), 0);
    // What malloc_free_space() says then is its own search's.
    assert_eq!(pool.free_space(), None);
}

#[test]
fn absurd_sizes_are_refused_and_do_not_wrap() {
    let (pool, _) = played();
    for published in [0, 60_000, usize::MAX / 2] {
        pool.publish(published);
        for size in [usize::MAX, usize::MAX - 49_999, usize::MAX - 50_000, usize::MAX - 50_001] {
            assert!(!pool.admits(size), "{size} with {published} published");
        }
    }
}

#[test]
fn without_a_tracker_the_heap_is_asked() {
    let (pool, source) = played();
    assert!(pool.admits(10_000 - OVERHEAD) && !pool.admits(10_001 - OVERHEAD));
    assert_eq!(source.0.load(Ordering::Relaxed), 2);
    assert_eq!((pool.largest(), pool.free_space()), (Some(60_000), None));
}

#[test]
fn each_policy_goes_by_its_own_figure() {
    let (pool, _) = played();
    pool.publish(55_000);
    let answers = |size| {
        Policy::ALL.map(|policy| {
            pool.set_policy(policy);
            pool.admits(size)
        })
    };
    // Tracker, always, walk (the total), largest-walk.
    assert_eq!(answers(1_000), [true, true, true, true]);
    assert_eq!(answers(9_000), [false, true, true, true]);
    assert_eq!(answers(20_000), [false, true, true, false]);
    assert_eq!(answers(60_000), [false, true, false, false]);
    assert_eq!(answers(usize::MAX), [false, true, false, false]);
}

#[test]
fn the_reserve_is_settable() {
    let (pool, _) = played();
    pool.publish(60_000);
    assert_eq!(pool.reserve(), DEFAULT_RESERVE);
    pool.set_reserve(0);
    assert_eq!(pool.reserve(), 0);
    assert!(pool.admits(60_000 - OVERHEAD) && !pool.admits(60_001 - OVERHEAD));
    pool.set_reserve(usize::MAX);
    assert!(!pool.admits(0));
}

#[test]
fn nothing_known_and_nobody_to_ask_says_yes() {
    assert!(Pool::new().admits(1 << 20));
}

#[test]
fn policies_have_names() {
    for policy in Policy::ALL {
        assert_eq!(policy.name().parse(), Ok(policy));
    }
    assert_eq!("walks".parse::<Policy>(), Err(UnknownPolicy));
}
