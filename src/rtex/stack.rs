// SPDX-License-Identifier: BSD-2-Clause
//! The deep recursion, and how deep it may go.

use super::Stack;
use core::hint::black_box;
use core::mem::MaybeUninit;

/// Bytes of the local array in each frame.
pub const FRAME_BYTES: usize = 1024;
/// What a frame may take beyond its array (return address, saved registers, alignment; more without optimisation), bytes.
const FRAME_EXTRA: usize = 128;
/// Bytes that stay free below the recursion: an interrupt or a signal may come at the deepest point.
const MARGIN: usize = 1024;

/// Bytes of this stack that the recursion may take.
pub(super) fn usable(stack: Stack) -> usize {
    stack.free.saturating_sub(MARGIN + stack.size / 32)
}

/// Levels of recursion that stay within `bytes` of stack.
pub(super) fn levels(bytes: usize) -> usize {
    bytes / (FRAME_BYTES + FRAME_EXTRA)
}

/// Goes down by that many frames and comes back; each frame touches the stack.
#[inline(never)]
pub(super) fn descend(levels: usize) {
    if levels == 0 {
        return;
    }
    let mut frame = MaybeUninit::<[u8; FRAME_BYTES]>::uninit();
    black_box(&mut frame);
    descend(levels - 1);
    // After the call, so that no frame is given up for the next one.
    black_box(&mut frame);
}
