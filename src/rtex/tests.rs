// SPDX-License-Identifier: BSD-2-Clause
//! The demonstration against a scripted operating system.

use super::*;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

/// Counts what is done to it; each allocation takes 100 ns and faults once per page unless the heap was kept and touched.
struct Scripted {
    paging: bool,
    stack: Stack,
    largest: usize,
    ns: Cell<u64>,
    calls: RefCell<Vec<&'static str>>,
    live: Rc<Cell<isize>>,
    high_water: Option<usize>,
}

struct Counted(Vec<u8>, Rc<Cell<isize>>);

impl Block for Counted {
    fn fill(&mut self, byte: u8) -> &mut [u8] {
        self.0.fill(byte);
        &mut self.0
    }
    fn touch(&mut self, stride: usize) {
        self.0.iter_mut().step_by(stride).for_each(|byte| *byte = 0);
    }
    fn cool(&mut self) -> bool {
        true
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.set(self.1.get() - 1);
    }
}

impl Platform for Scripted {
    type Block = Counted;
    fn now_ns(&self) -> u64 {
        self.ns.set(self.ns.get() + 100);
        self.ns.get()
    }
    fn faults(&self) -> u64 {
        0
    }
    fn has_paging(&self) -> bool {
        self.paging
    }
    fn page_bytes(&self) -> usize {
        4096
    }
    fn stack(&self) -> Stack {
        self.stack
    }
    fn stack_high_water(&self) -> Option<usize> {
        self.high_water
    }
    fn largest_block(&self) -> usize {
        self.largest
    }
    fn allocate(&mut self, bytes: usize) -> Option<Counted> {
        if bytes > self.largest {
            return None;
        }
        self.live.set(self.live.get() + 1);
        Some(Counted(alloc::vec![0; bytes], self.live.clone()))
    }
    fn keep_heap(&mut self) -> Result<(), Refused> {
        self.calls.borrow_mut().push("keep");
        Ok(())
    }
    fn lock_memory(&mut self) -> Result<(), Refused> {
        self.calls.borrow_mut().push("lock");
        Err(Refused("not permitted"))
    }
}

fn scripted(paging: bool) -> Scripted {
    Scripted {
        paging,
        stack: Stack { size: 64 * 1024, free: 60 * 1024 },
        largest: 1024 * 1024,
        ns: Cell::new(0),
        calls: RefCell::default(),
        live: Rc::default(),
        high_water: Some(3000),
    }
}

#[test]
fn lines_are_those_of_the_original() {
    let mut platform = scripted(true);
    let mut text = String::new();
    assert_eq!(command(&mut platform, &mut text, &["0x10"]), 0);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "options: 0x10");
    assert!(lines[1].starts_with("sizes: heap 262144 bytes, stack "), "{}", lines[1]);
    assert_eq!(lines[2], "       100 ns     0 faults : main setup");
    assert_eq!(lines[3], "       100 ns     0 faults : testfunc_malloc (0)");
    assert_eq!(lines[10], "       100 ns     0 faults : testfunc_deepstack (3)");
    assert_eq!(lines.len(), 11);
    assert!(platform.calls.borrow().is_empty(), "no option asked for a remedy");
    assert_eq!(platform.live.get(), 0, "every block went back");
}

#[test]
fn each_bit_applies_its_remedy_and_a_refusal_is_said() {
    let mut platform = scripted(true);
    let mut text = String::new();
    assert_eq!(command(&mut platform, &mut text, &["f"]), 0);
    assert_eq!(*platform.calls.borrow(), ["keep", "lock"]);
    assert!(text.contains("mlockall: not permitted"));
    assert!(!text.contains("testfunc"), "bit 0x10 was not given");
}

#[test]
fn without_paging_it_says_so_and_measures_what_is_left() {
    let mut platform = scripted(false);
    let mut text = String::new();
    assert_eq!(command(&mut platform, &mut text, &["0x1f"]), 0);
    for expected in [
        "no paging here",
        "touch_cold_cache (0)",
        "touch_warm_cache (1)",
        "heap with 512 holes",
        "heap_search (0)",
        "heap_search (1)",
        "stack: 3000 of 65536 bytes used at most (4 %)",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert_eq!(platform.live.get(), 0);
}

#[test]
fn what_does_not_fit_is_refused_before_anything_runs() {
    let mut platform = scripted(false);
    let mut text = String::new();
    assert_eq!(command(&mut platform, &mut text, &["10", "1000", "60000"]), 1);
    assert!(text.contains("refused: 60000 bytes of recursion"), "{text}");
    text.clear();
    assert_eq!(command(&mut platform, &mut text, &["10", &alloc::format!("{}", usize::MAX)]), 1);
    assert!(text.contains("of heap"), "{text}");
    assert!(platform.calls.borrow().is_empty());
}

#[test]
fn wrong_arguments_show_the_usage() {
    for args in [&[][..], &["zz"], &["0x10", "a"], &["10", "1", "2", "3"]] {
        let mut text = String::new();
        assert_eq!(command(&mut scripted(true), &mut text, args), shell::USAGE);
        assert_eq!(text, USAGE);
    }
}

#[test]
fn a_frame_takes_no_more_than_is_reckoned() {
    // Where the deepest frame stands against where the caller stands: usable() is only right if levels() is.
    let size = 256 * 1024;
    let bytes = 128 * 1024;
    std::thread::Builder::new()
        .stack_size(size)
        .spawn(move || stack::descend(stack::levels(bytes)))
        .expect("thread")
        .join()
        .expect("the recursion stays within the stack");
    assert!(stack::usable(Stack { size: 100, free: 0 }) == 0);
}
