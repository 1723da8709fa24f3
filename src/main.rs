// SPDX-License-Identifier: BSD-2-Clause
//! The hosted program: the same servers and commands as on a board, on Linux.

mod hosted;

use std::process::ExitCode;

use rtems_ioc::os::hosted::allocator::PoolAllocator;

/// Every allocation of this program comes from the model of RTEMS's heap.
#[global_allocator]
static ALLOCATOR: PoolAllocator = PoolAllocator;

fn main() -> ExitCode {
    hosted::run()
}
