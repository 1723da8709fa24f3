// SPDX-License-Identifier: BSD-2-Clause
//! Generates the bindings from the headers of one installed BSP.
//!
//! The environment says which, and wscript sets it: `RTEMS_SYS_CLANG_ARGS`, the flags under which clang sees the headers
//! as that BSP's GCC does (target, -isystem folders, -D__rtems__), one per line.

use std::env;
use std::path::PathBuf;

const ARGUMENTS: &str = "RTEMS_SYS_CLANG_ARGS";

/// Functions of the classic API, the shell, the C library and the BSD socket interface.
const FUNCTIONS: &[&str] = &[
    "rtems_task_(create|start|delete|self|wake_after|set_priority|exit)",
    "rtems_clock_(get_uptime|get_ticks_per_second|get_ticks_since_boot|get_uptime_nanoseconds)",
    "rtems_timer_(create|server_fire_after|cancel|delete)",
    "rtems_event_(send|receive|system_send|system_receive)",
    "rtems_shell_add_cmd|rtems_bsp_cmdline_get|getenv",
    "_Mutex_(Acquire|Release|Recursive_Acquire|Recursive_Release)",
    "_Semaphore_(Wait|Post)",
    "clock_(gettime|settime)",
    "socket|bind|listen|accept|connect|shutdown|close|poll|ioctl|fcntl",
    "send|sendto|recv|recvfrom|setsockopt|getsockopt|getsockname|getpeername",
    "rtems_cache_(flush_entire_data|invalidate_entire_data|get_data_line_size)",
];

/// Types that are used by name.
const TYPES: &[&str] = &[
    "rtems_(id|name|status_code|task_argument|interval|event_set)",
    "timespec|time_t|socklen_t|sockaddr|sockaddr_in|in_addr|ip_mreq|pollfd|ifreq|ifconf|timeval",
    "_Mutex_Control|_Mutex_recursive_Control|_Semaphore_Control",
];

/// Constants and variables.
const VARIABLES: &[&str] = &[
    "RTEMS_SYS_.*",
    "AF_INET|SOCK_(STREAM|DGRAM)|SOL_SOCKET|SHUT_(RD|WR|RDWR)",
    "SO_(BROADCAST|ERROR|KEEPALIVE|RCVBUF|SNDBUF|REUSEADDR|REUSEPORT|RCVWAKEUP|SNDWAKEUP)",
    "IPPROTO_(IP|TCP)|IP_(ADD_MEMBERSHIP|MULTICAST_TTL)|TCP_NODELAY|MSG_(DONTWAIT|NOSIGNAL)",
    "E(ACCES|ADDRINUSE|ADDRNOTAVAIL|AGAIN|CONNABORTED|CONNREFUSED|CONNRESET|INPROGRESS|INTR|MFILE|NFILE|NOBUFS)",
    "E(NOMEM|NOTCONN|PERM|PIPE|TIMEDOUT|INVAL)",
    "F_(GETFL|SETFL)|O_NONBLOCK|POLL(IN|OUT|ERR|HUP)|IFF_(UP|LOOPBACK|BROADCAST)|CLOCK_REALTIME",
    "RTEMS_(SUCCESSFUL|TIMEOUT|NO_TIMEOUT|WAIT|NO_WAIT|EVENT_ANY|EVENT_ALL|EVENT_24|EVENT_25)",
    "RTEMS_(UNSATISFIED|TOO_MANY|NO_MEMORY)|rtems_libio_number_iops",
];

fn main() {
    println!("cargo::rerun-if-env-changed={ARGUMENTS}");
    println!("cargo::rerun-if-changed=include/rtems_sys.h");
    let Ok(arguments) = env::var(ARGUMENTS) else {
        fail(&format!(
            "{ARGUMENTS} is not set: the bindings are made from the headers of an installed BSP, and wscript says \
             which.\n    Run: waf configure --rtems=PREFIX --rtems-bsps=ARCH/BSP && waf"
        ));
    };
    let mut builder = bindgen::Builder::default()
        .header("include/rtems_sys.h")
        .clang_args(arguments.lines().filter(|line| !line.is_empty()))
        .use_core()
        .ctypes_prefix("cty")
        .default_macro_constant_type(bindgen::MacroTypeVariation::Signed)
        .merge_extern_blocks(true)
        .layout_tests(true)
        .generate_comments(false)
        .prepend_enum_name(false)
        .derive_debug(false);
    for names in FUNCTIONS {
        builder = builder.allowlist_function(names);
    }
    for names in TYPES {
        builder = builder.allowlist_type(names);
    }
    for names in VARIABLES {
        builder = builder.allowlist_var(names);
    }
    let bindings = match builder.generate() {
        Ok(bindings) => bindings,
        Err(error) => {
            fail(&format!("bindgen cannot read the BSP's headers: {error}\n    {ARGUMENTS}={arguments}"))
        }
    };
    let Some(folder) = env::var_os("OUT_DIR") else { fail("cargo sets OUT_DIR: run this by cargo") };
    if let Err(error) = bindings.write_to_file(PathBuf::from(folder).join("bindings.rs")) {
        fail(&format!("cannot write the bindings: {error}"));
    }
}

/// Ends the build with one clear message.
fn fail(why: &str) -> ! {
    println!("cargo::error={}", why.replace('\n', " "));
    eprintln!("rtems-sys: {why}");
    std::process::exit(1)
}
