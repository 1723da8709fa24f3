// SPDX-License-Identifier: BSD-2-Clause
//! What `poolstat` shows.

use core::fmt;

use super::pool;

/// The state of the heap; `walk` compares it with a walk over every block, and shows the searches of tier B if the answers
/// are its.
pub fn write(walk: bool, out: &mut dyn fmt::Write) -> fmt::Result {
    let pool = pool();
    let Some(heap) = pool.snapshot() else {
        return out.write_str("no heap is followed here: every request is admitted\n");
    };
    let tenths = |thousandths: u32| (thousandths / 10, thousandths % 10);
    let (percent, tenth) = tenths(heap.fragmentation);
    writeln!(out, "heap            {:>12} bytes", heap.heap_bytes)?;
    writeln!(out, "free            {:>12} bytes in {} blocks", heap.free_bytes, heap.free_blocks)?;
    writeln!(out, "used blocks     {:>12}", heap.used_blocks)?;
    if let Some(largest) = pool.largest() {
        writeln!(
            out,
            "largest free    {largest:>12} bytes (published: at least {})",
            heap.largest_lower_bound
        )?;
    }
    writeln!(out, "fewest free     {:>12} bytes ever", heap.minimum_free_bytes)?;
    writeln!(out, "fragmentation   {percent:>12}.{tenth} % of the free memory is outside the largest block")?;
    writeln!(out, "reserve         {:>12} bytes, policy {}", pool.reserve(), pool.policy())?;
    let source = if heap.tracked != 0 { "tracker" } else { "walk: no hooks in this image" };
    writeln!(
        out,
        "operations      {:>12}, {} failed, {} resyncs, figures by {source}",
        heap.operations, heap.failed, heap.resyncs
    )?;
    if !walk {
        return Ok(());
    }
    if let Some(searches) = pool.searches().filter(|_| heap.tracked == 0) {
        writeln!(out, "tier B          {searches}")?;
    }
    let Some(found) = pool.walk() else { return Ok(()) };
    let agrees = found.free_bytes == heap.free_bytes && found.free_blocks == heap.free_blocks;
    writeln!(
        out,
        "walk            {:>12} bytes free in {} blocks, largest {}, {} used blocks: {}",
        found.free_bytes,
        found.free_blocks,
        found.largest_free,
        found.used_blocks,
        if agrees { "agrees" } else { "differs (unless other tasks allocated meanwhile)" }
    )
}
