// SPDX-License-Identifier: BSD-2-Clause
//! What every poller must do, tried on each that this system has.

use std::time::{Duration, Instant};

use super::bsd::BsdDatagram;
use super::poll::PollSet;
use super::{Address, Datagram, DatagramOptions};
use crate::os::hosted::EpollSet;
use crate::os::{Interest, Poller, Readiness, Wake};

fn socket() -> BsdDatagram {
    let options = DatagramOptions { shared: false, broadcast: false, receive_buffer: 0, multicast_ttl: 1 };
    BsdDatagram::open(Address::new(Address::LOOPBACK, 0), options).unwrap()
}

const READ: Readiness = Readiness { read: true, write: false };
const WRITE: Readiness = Readiness { read: false, write: true };

fn reports_what_is_ready(mut set: impl Poller) {
    let (mut a, b) = (socket(), socket());
    set.watch(3, a.descriptor(), Interest::READ).unwrap();
    set.watch(5, b.descriptor(), Interest::READ).unwrap();
    set.wait(Some(0)).unwrap();
    assert_eq!(set.next_ready(&mut 0), None);
    a.send_to(b"x", b.local()).unwrap();
    set.wait(Some(1000)).unwrap();
    let mut from = 0;
    assert_eq!(set.next_ready(&mut from), Some((5, READ)));
    assert_eq!(set.next_ready(&mut from), None);
    // Level-triggered: still there.
    set.wait(Some(1000)).unwrap();
    assert_eq!(set.next_ready(&mut 0), Some((5, READ)));
    set.watch(5, b.descriptor(), Interest::NONE).unwrap();
    set.watch(3, a.descriptor(), Interest { read: true, write: true }).unwrap();
    set.wait(Some(1000)).unwrap();
    let mut from = 0;
    assert_eq!(set.next_ready(&mut from), Some((3, WRITE)));
    assert_eq!(set.next_ready(&mut from), None);
    set.watch(5, b.descriptor(), Interest::READ).unwrap();
    set.wait(Some(1000)).unwrap();
    let mut from = 0;
    assert_eq!(set.next_ready(&mut from), Some((3, WRITE)));
    // Closed by what was done for the one before it: must not be reported any more.
    set.forget(5);
    assert_eq!(set.next_ready(&mut from), None);
    set.forget(3);
    set.forget(5);
    set.forget(77);
    set.wait(Some(0)).unwrap();
    assert_eq!(set.next_ready(&mut 0), None);
}

/// A place given to another descriptor must not remember the first.
fn takes_a_token_again(mut set: impl Poller) {
    let (mut a, b, c) = (socket(), socket(), socket());
    a.send_to(b"x", b.local()).unwrap();
    set.watch(0, b.descriptor(), Interest::READ).unwrap();
    set.forget(0);
    drop(b);
    set.watch(0, c.descriptor(), Interest::READ).unwrap();
    set.wait(Some(0)).unwrap();
    assert_eq!(set.next_ready(&mut 0), None);
    a.send_to(b"x", c.local()).unwrap();
    set.wait(Some(1000)).unwrap();
    assert_eq!(set.next_ready(&mut 0), Some((0, READ)));
}

fn wakes_once(mut set: impl Poller) {
    let waker = set.waker().unwrap();
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        for _ in 0..100 {
            waker.wake();
        }
    });
    let start = Instant::now();
    set.wait(Some(10_000)).unwrap();
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(set.next_ready(&mut 0), None);
    other.join().unwrap();
    set.wait(Some(0)).unwrap();
    let start = Instant::now();
    set.wait(Some(30)).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(25));
}

#[test]
fn poll_reports_what_is_ready() {
    reports_what_is_ready(PollSet::new().unwrap());
    takes_a_token_again(PollSet::new().unwrap());
    wakes_once(PollSet::new().unwrap());
}

#[test]
fn epoll_reports_what_is_ready() {
    reports_what_is_ready(EpollSet::new().unwrap());
    takes_a_token_again(EpollSet::new().unwrap());
    wakes_once(EpollSet::new().unwrap());
}
