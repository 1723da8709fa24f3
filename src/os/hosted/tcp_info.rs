// SPDX-License-Identifier: BSD-2-Clause
//! What Linux knows of a TCP connection (`TCP_INFO`), and what of it is not acknowledged yet.
#![allow(unsafe_code)]

use core::ffi::{c_int, c_void};
use core::mem::size_of;
use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd;

/// `struct tcp_info` of Linux up to the last field used here. Older kernels fill less of it; the rest stays zero.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Raw {
    /// State, congestion state, retransmits, probes, backoff, options, window scales, flags.
    bytes: [u8; 8],
    rto: u32,
    ato: u32,
    snd_mss: u32,
    rcv_mss: u32,
    unacked: u32,
    sacked: u32,
    lost: u32,
    retrans: u32,
    fackets: u32,
    last: [u32; 4],
    pmtu: u32,
    rcv_ssthresh: u32,
    rtt: u32,
    rttvar: u32,
    snd_ssthresh: u32,
    snd_cwnd: u32,
    advmss: u32,
    reordering: u32,
    rcv_rtt: u32,
    rcv_space: u32,
    total_retrans: u32,
    pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acked: u64,
    bytes_received: u64,
    segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    min_rtt: u32,
    data_segs_in: u32,
    data_segs_out: u32,
    delivery_rate: u64,
    busy_time: u64,
    rwnd_limited: u64,
    sndbuf_limited: u64,
    delivered: u32,
    delivered_ce: u32,
    bytes_sent: u64,
    bytes_retrans: u64,
    dsack_dups: u32,
    reord_seen: u32,
    rcv_ooopack: u32,
    snd_wnd: u32,
}

/// The facts that a diagnosis needs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TcpInfo {
    /// Data segments sent, repeats included.
    pub segments_out: u32,
    /// Segments sent again.
    pub retransmitted: u32,
    /// Repeats that the peer says it had already: not lost, only late.
    pub spurious: u32,
    /// Data segments received.
    pub segments_in: u32,
    /// Data segments received out of order.
    pub out_of_order: u32,
    /// Round trip, smoothed, microseconds.
    pub rtt_us: u32,
    /// Shortest round trip, microseconds.
    pub min_rtt_us: u32,
    /// Largest segment sent, bytes.
    pub segment_bytes: u32,
    /// Window that the peer offers now, bytes (0 where the kernel does not tell).
    pub peer_window: u32,
    /// Time with data to send, microseconds.
    pub busy_us: u64,
    /// Part of it spent waiting for the peer's window.
    pub window_limited_us: u64,
}

/// Asks the kernel.
pub fn tcp_info(stream: &TcpStream) -> io::Result<TcpInfo> {
    let mut raw = Raw::default();
    let mut size = size_of::<Raw>() as libc::socklen_t;
    // SAFETY: `raw` is writable for `size` bytes, and any bytes are a valid Raw.
    let result = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut raw).cast::<c_void>(),
            &mut size,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(TcpInfo {
        segments_out: raw.data_segs_out,
        retransmitted: raw.total_retrans,
        spurious: raw.dsack_dups,
        segments_in: raw.data_segs_in,
        out_of_order: raw.rcv_ooopack,
        rtt_us: raw.rtt,
        min_rtt_us: raw.min_rtt,
        segment_bytes: raw.snd_mss,
        peer_window: raw.snd_wnd,
        busy_us: raw.busy_time,
        window_limited_us: raw.rwnd_limited,
    })
}

/// Bytes sent or queued that the peer has not acknowledged.
pub fn unacknowledged(stream: &TcpStream) -> io::Result<u32> {
    let mut bytes: c_int = 0;
    // SAFETY: TIOCOUTQ (SIOCOUTQ) writes one int.
    if unsafe { libc::ioctl(stream.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(u32::try_from(bytes).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    #[test]
    fn layout_is_that_of_the_kernel() {
        // Offsets of linux/tcp.h that would shift if a field above were wrong.
        assert_eq!(core::mem::offset_of!(Raw, total_retrans), 100);
        assert_eq!(core::mem::offset_of!(Raw, pacing_rate), 104);
        assert_eq!(core::mem::offset_of!(Raw, min_rtt), 148);
        assert_eq!(core::mem::offset_of!(Raw, rwnd_limited), 176);
        assert_eq!(core::mem::offset_of!(Raw, bytes_sent), 200);
        assert_eq!(core::mem::offset_of!(Raw, rcv_ooopack), 224);
    }

    #[test]
    fn counts_what_was_sent() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        sender.write_all(&[1; 5000]).unwrap();
        receiver.read_exact(&mut [0; 5000]).unwrap();
        let (sent, received) = (tcp_info(&sender).unwrap(), tcp_info(&receiver).unwrap());
        assert!(sent.segments_out >= 1 && sent.retransmitted == 0);
        assert_eq!(received.segments_in, sent.segments_out);
        assert!(sent.min_rtt_us > 0 && sent.segment_bytes > 500);
    }
}
