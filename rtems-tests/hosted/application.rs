// SPDX-License-Identifier: BSD-2-Clause
//! The application's process variables on real sockets: values that come far faster than clients read, handlers that refuse
//! or end later, deletion, restarts; from Rust and through the C interface.

#[allow(dead_code)]
#[path = "support/circuit.rs"]
mod circuit;
#[allow(dead_code)]
#[path = "support/deadline.rs"]
mod deadline;
#[allow(dead_code)]
#[path = "support/message.rs"]
mod message;

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use circuit::{Channel, Circuit};
use deadline::PATIENCE;
use message::{Message, command};
use rtems_ioc::app::{Answer, PutRequest, PutToken};
use rtems_ioc::net::provider::Served;
use rtems_ioc::net::server::Server;
use rtems_ioc::net::settings::Settings;
use rtems_ioc::net::status::Status;
use rtems_ioc::os::hosted::Hosted;
use rtems_ioc::os::socket::Address;
use rtems_ioc::pv::Database;
use rtems_ioc::shell::Ioc;
use rtems_ioc::value::Elements;
use rtems_ioc::{app, ca, tcpecho};

type TestIoc = Ioc<Hosted, Served<Status<Hosted>>, ca::AdmitAll>;

const DOUBLE: u16 = 6;
const VALUE: u16 = 1;
const ECA_NORMAL: u32 = 1;
const ECA_PUTFAIL: u32 = 0xa0;

fn ioc() -> TestIoc {
    let mut settings = Settings::on(vec![Address::LOOPBACK]);
    settings.port = 0;
    settings.auto_beacons = false;
    let echo = tcpecho::Options { interface: Address::LOOPBACK, port: 0, buffer_bytes: 0, max_clients: 0 };
    let provider = Served::new(Database::new(), Status::new(Hosted), 16);
    let server = Server::new(Hosted, ca::Server::new(ca::Config::DEFAULT, provider), ca::AdmitAll);
    Ioc::new(Hosted, server, settings, echo)
}

fn port(ioc: &TestIoc) -> u16 {
    ioc.server().with(|server| server.listening().next()).unwrap().port
}

fn double(payload: &[u8]) -> f64 {
    f64::from_be_bytes(payload[..8].try_into().unwrap())
}

fn get(circuit: &mut Circuit, channel: Channel) -> f64 {
    double(&circuit.get(channel, DOUBLE, 1).unwrap().payload)
}

fn put(circuit: &mut Circuit, channel: Channel, value: f64) -> u32 {
    circuit.put(channel, DOUBLE, 1, &value.to_be_bytes()).unwrap().header.p1
}

/// A second of 100 000 sets with ten subscribers: nobody is owed a queue, and everybody ends with the last value.
#[test]
fn a_flood_of_values_coalesces_and_the_last_one_arrives() {
    const SUBSCRIBERS: usize = 10;
    const SETS: u32 = 100_000;
    let ioc = ioc();
    let pv = ioc.create("ai", "flood", &[], None).unwrap();
    pv.set(-1.0).unwrap();
    ioc.start_server().unwrap();
    let port = port(&ioc);
    let subscribers: Vec<_> = (0..SUBSCRIBERS)
        .map(|number| {
            let mut circuit = Circuit::connect(port).unwrap();
            let channel = circuit.create("flood").unwrap();
            let id = circuit.subscribe(channel, DOUBLE, 1, VALUE).unwrap();
            // The first update is there before the flood begins.
            circuit.next_that(|m| m.header.command == command::EVENT_ADD && m.header.p2 == id).unwrap();
            thread::spawn(move || {
                let (mut last, mut updates) = (f64::NEG_INFINITY, 0u32);
                while last < f64::from(SETS) {
                    let update = circuit.next_that(|m| m.header.command == command::EVENT_ADD).unwrap();
                    let value = double(&update.payload);
                    assert!(value > last, "subscriber {number}: {value} after {last}");
                    (last, updates) = (value, updates + 1);
                }
                updates
            })
        })
        .collect();
    let start = Instant::now();
    for value in 1..=SETS {
        pv.set(value).unwrap();
        if value % 100 == 0 {
            // 100 000 a second, as far as this machine keeps up.
            let due = start + Duration::from_micros(10 * u64::from(value));
            thread::sleep(due.saturating_duration_since(Instant::now()));
        }
    }
    let took = start.elapsed();
    let updates: Vec<u32> = subscribers.into_iter().map(|s| s.join().unwrap()).collect();
    println!("{SETS} sets in {took:?}; updates per subscriber: {updates:?}");
    // Once a millisecond at most, and the last one: a tenth of the sets leaves room for any machine.
    assert!(updates.iter().all(|&count| (1..SETS / 10).contains(&count)), "{updates:?} did not coalesce");
    let mut late = Circuit::connect(port).unwrap();
    let channel = late.create("flood").unwrap();
    assert_eq!(get(&mut late, channel), f64::from(SETS));
    ioc.stop();
}

#[test]
fn handlers_decide_and_puts_end_later() {
    let ioc = ioc();
    let tokens: Arc<Mutex<Vec<PutToken>>> = Arc::default();
    let log = Arc::clone(&tokens);
    let slow = move |request: &PutRequest<'_>| {
        let Elements::Double(&[value]) = request.value else { return Answer::Refuse };
        if value < 0.0 || request.user != b"tester" || request.address != Address::LOOPBACK {
            return Answer::Refuse;
        }
        log.lock().unwrap().push(request.token);
        Answer::Later
    };
    let pv = ioc.create("ao", "slow", &[], Some(Box::new(slow))).unwrap();
    pv.set(1.0).unwrap();
    ioc.start_server().unwrap();
    let mut circuit = Circuit::connect(port(&ioc)).unwrap();
    let channel = circuit.create("slow").unwrap();
    assert_eq!(put(&mut circuit, channel, -1.0), ECA_PUTFAIL);
    for (value, succeeds) in [(5.0, true), (6.0, false)] {
        let (pv, tokens) = (pv.clone(), Arc::clone(&tokens));
        let device = thread::spawn(move || {
            // The device is done when it is done; the client waits for its put-callback.
            let token = deadline::retry(PATIENCE, || tokens.lock().unwrap().pop()).unwrap();
            assert!(pv.complete(token, succeeds) && !pv.complete(token, succeeds));
        });
        let status = put(&mut circuit, channel, value);
        device.join().unwrap();
        assert_eq!(status, if succeeds { ECA_NORMAL } else { ECA_PUTFAIL });
        assert_eq!(get(&mut circuit, channel), 5.0);
    }
    // The server stops and starts: the handle stays what it is.
    ioc.stop();
    pv.set(8.0).unwrap();
    ioc.start_server().unwrap();
    let mut circuit = Circuit::connect(port(&ioc)).unwrap();
    let channel = circuit.create("slow").unwrap();
    assert_eq!(get(&mut circuit, channel), 8.0);
    let id = circuit.subscribe(channel, DOUBLE, 1, VALUE).unwrap();
    pv.set(9.0).unwrap();
    circuit
        .next_that(|m| {
            m.header.command == command::EVENT_ADD && m.header.p2 == id && double(&m.payload) == 9.0
        })
        .unwrap();
    ioc.stop();
}

/// A client that does not wait is not told how its put ended; the log of puts is, whoever waits.
#[test]
fn the_log_of_puts_has_the_end_of_those_that_end_later() {
    let ioc = ioc();
    let tokens: Arc<Mutex<Vec<PutToken>>> = Arc::default();
    let log = Arc::clone(&tokens);
    let slow = move |request: &PutRequest<'_>| {
        log.lock().unwrap().push(request.token);
        Answer::Later
    };
    let pv = ioc.create("ao", "slow", &[], Some(Box::new(slow))).unwrap();
    ioc.server().with(|server| server.protocol_mut().provider_mut().security.set_log_all(true));
    ioc.start_server().unwrap();
    let mut circuit = Circuit::connect(port(&ioc)).unwrap();
    let channel = circuit.create("slow").unwrap();
    let logged = || {
        let mut text = String::new();
        ioc.server().with(|server| server.protocol().provider().put_log.report(&mut text)).unwrap();
        text
    };
    let says = |wanted: &str| deadline::retry(PATIENCE, || logged().contains(wanted).then_some(()));
    for (value, succeeds) in [(5.0f64, true), (6.0, false)] {
        let write = Message::new(command::WRITE, DOUBLE, 1, channel.sid, channel.cid, &value.to_be_bytes());
        circuit.send(&write).unwrap();
        let token = deadline::retry(PATIENCE, || tokens.lock().unwrap().pop()).unwrap();
        says(&format!("-> \"{value}\", in progress")).unwrap_or_else(|| panic!("{}", logged()));
        assert!(pv.complete(token, succeeds));
        let end = if succeeds { "done" } else { "failed" };
        says(&format!("-> \"{value}\", {end}")).unwrap_or_else(|| panic!("{}", logged()));
        assert!(!logged().contains("in progress"));
    }
    assert_eq!(get(&mut circuit, channel), 5.0);
    ioc.stop();
}

#[test]
fn a_deleted_variable_disconnects_its_clients_and_its_place_is_used_again() {
    let ioc = ioc();
    ioc.start_server().unwrap();
    let port = port(&ioc);
    let mut circuit = Circuit::connect(port).unwrap();
    for round in 0..20 {
        let name = format!("short-lived:{round}");
        let pv = ioc.create("longin", &name, &[], None).unwrap();
        pv.set(round).unwrap();
        let value = circuit.create(&name).unwrap();
        let field = circuit.create(&format!("{name}.DESC")).unwrap();
        assert_eq!(get(&mut circuit, value), f64::from(round));
        circuit.subscribe(value, DOUBLE, 1, VALUE).unwrap();
        circuit.subscribe(field, 0, 1, VALUE).unwrap();
        assert!(ioc.delete(&pv) && !ioc.delete(&pv));
        let mut gone = Vec::new();
        while gone.len() < 2 {
            let told = circuit.next_that(|m| m.header.command == command::SERVER_DISCONN).unwrap();
            gone.push(told.header.p1);
        }
        gone.sort_unstable();
        assert_eq!(gone, [value.cid, field.cid]);
        assert!(circuit.create(&name).is_err());
    }
    let records = ioc.server().with(|server| server.protocol().provider().database.len());
    assert_eq!(records, 1, "one place served for all");
    assert_eq!(ioc.server().with(|server| server.protocol().statistics().monitors), 0);
    ioc.stop();
}

/// `struct rtems_ioc_put`.
#[repr(C)]
struct CPut {
    kind: c_uint,
    count: usize,
    data: *const c_void,
    user: *const c_char,
    host: *const c_char,
    address: u32,
    waits: c_int,
    token: u32,
}

/// `struct rtems_ioc_value`.
#[repr(C)]
struct CValue {
    kind: c_uint,
    count: usize,
    data: *const c_void,
    status: c_uint,
    severity: c_uint,
    seconds: u32,
    nanoseconds: u32,
}

/// `struct rtems_ioc_pv`, of which C knows no more than that it is there.
#[repr(C)]
struct Handle {
    _hidden: [u8; 0],
}

type CHandler = Option<unsafe extern "C" fn(*mut c_void, *const CPut) -> c_int>;

unsafe extern "C" {
    fn rtems_ioc_pv_create(
        kind: *const c_char,
        name: *const c_char,
        fields: *const *const c_char,
        handler: CHandler,
        context: *mut c_void,
    ) -> *mut Handle;
    fn rtems_ioc_pv_set_double(pv: *mut Handle, value: f64) -> c_int;
    fn rtems_ioc_pv_set_text(pv: *mut Handle, value: *const c_char) -> c_int;
    fn rtems_ioc_pv_set(pv: *mut Handle, value: *const CValue) -> c_int;
    fn rtems_ioc_pv_complete(pv: *mut Handle, token: u32, succeeded: c_int) -> c_int;
    fn rtems_ioc_pv_delete(pv: *mut Handle) -> c_int;
}

static TOKEN: AtomicU32 = AtomicU32::new(0);

/// Accepts below 10, refuses below 20, and leaves the rest for later.
unsafe extern "C" fn decide(context: *mut c_void, put: *const CPut) -> c_int {
    // SAFETY: what the interface promises: a put that lives during the call, here of one double.
    let (put, value) = unsafe { (&*put, *(*put).data.cast::<f64>()) };
    // SAFETY: the context is the counter that the test gave; the user is a C string.
    unsafe {
        (*context.cast::<AtomicU32>()).fetch_add(1, Ordering::Relaxed);
        assert_eq!(CStr::from_ptr(put.user).to_bytes(), b"tester");
    }
    assert_eq!((put.kind, put.count, put.address), (6, 1, Address::LOOPBACK));
    match value {
        ..10.0 => 0,
        10.0..20.0 => 1,
        _ => {
            TOKEN.store(put.token, Ordering::Release);
            2
        }
    }
}

#[test]
fn the_c_interface_does_the_same() {
    static IOC: OnceLock<TestIoc> = OnceLock::new();
    static PUTS: AtomicU32 = AtomicU32::new(0);
    let ioc = IOC.get_or_init(ioc);
    app::register(ioc);
    let text = |text: &str| CString::new(text).unwrap();
    let fields = [text("EGU"), text("V"), text("HIGH"), text("50"), text("HSV"), text("MINOR")];
    let mut pointers: Vec<*const c_char> = fields.iter().map(|field| field.as_ptr()).collect();
    pointers.push(std::ptr::null());
    // SAFETY: C strings and an array of them that ends with NULL, all alive during the calls; the counter is static.
    let (pv, note) = unsafe {
        let context = (&raw const PUTS).cast_mut().cast();
        let pv = rtems_ioc_pv_create(
            text("ao").as_ptr(),
            text("c:value").as_ptr(),
            pointers.as_ptr(),
            Some(decide),
            context,
        );
        let lsi = [text("SIZV"), text("100")];
        let lsi = [lsi[0].as_ptr(), lsi[1].as_ptr(), std::ptr::null()];
        let none = std::ptr::null_mut();
        (pv, rtems_ioc_pv_create(text("lsi").as_ptr(), text("c:note").as_ptr(), lsi.as_ptr(), None, none))
    };
    assert!(!pv.is_null() && !note.is_null());
    ioc.start_server().unwrap();
    let mut circuit = Circuit::connect(port(ioc)).unwrap();
    let (value, long) = (circuit.create("c:value").unwrap(), circuit.create("c:note.VAL$").unwrap());
    // SAFETY: handles that were not deleted, and values that live during the calls.
    unsafe {
        assert_eq!(rtems_ioc_pv_set_double(pv, 2.5), 0);
        assert_eq!(get(&mut circuit, value), 2.5);
        let words = text("rather more than thirty-nine characters of text");
        assert_eq!(rtems_ioc_pv_set_text(note, words.as_ptr()), 0);
        let shown = circuit.get(long, 4, 0).unwrap();
        assert_eq!(shown.payload[..shown.header.count as usize], *words.as_bytes_with_nul());
        let number = 60.0f64;
        let whole = CValue {
            kind: 6,
            count: 1,
            data: (&raw const number).cast(),
            status: 9,
            severity: 3,
            seconds: 77,
            nanoseconds: 5,
        };
        assert_eq!(rtems_ioc_pv_set(pv, &whole), 0);
        let timed = circuit.get(value, 20, 1).unwrap();
        assert_eq!(timed.payload[..12], [0, 9, 0, 3, 0, 0, 0, 77, 0, 0, 0, 5]);
    }
    assert_eq!([5.0, 15.0].map(|number| put(&mut circuit, value, number)), [ECA_NORMAL, ECA_PUTFAIL]);
    let address = pv as usize;
    let device = thread::spawn(move || {
        let token = deadline::retry(PATIENCE, || match TOKEN.load(Ordering::Acquire) {
            0 => None,
            token => Some(token),
        })
        .unwrap();
        // SAFETY: the handle is deleted after this thread has ended.
        unsafe { rtems_ioc_pv_complete(address as *mut Handle, token, 1) }
    });
    assert_eq!(put(&mut circuit, value, 25.0), ECA_NORMAL);
    assert_eq!(device.join().unwrap(), 0);
    assert_eq!((get(&mut circuit, value), PUTS.load(Ordering::Relaxed)), (25.0, 3));
    // One that has not ended when its variable goes fails; who completes it then does no harm.
    TOKEN.store(0, Ordering::Release);
    let write = Message::new(command::WRITE_NOTIFY, DOUBLE, 1, value.sid, 0x77, &30f64.to_be_bytes());
    circuit.send(&write).unwrap();
    let late = deadline::retry(PATIENCE, || Some(TOKEN.load(Ordering::Acquire)).filter(|&token| token != 0))
        .unwrap();
    // SAFETY: handles that were not deleted; afterwards only what the interface allows is done with them, and what is
    // refused: arguments that are NULL, text that is not UTF-8.
    unsafe {
        let chars = CValue {
            kind: 4,
            count: 5,
            data: c"hello".as_ptr().cast(),
            status: 0,
            severity: 0,
            seconds: 0,
            nanoseconds: 0,
        };
        assert_eq!(rtems_ioc_pv_set(note, &chars), 0);
        assert!(circuit.get(long, 4, 0).unwrap().payload.starts_with(b"hello\0"));
        let none = std::ptr::null_mut();
        let create = |kind, name, fields: &[*const c_char]| {
            rtems_ioc_pv_create(kind, name, fields.as_ptr(), None, none)
        };
        let (ai, x, end) = (c"ai".as_ptr(), c"c:x".as_ptr(), std::ptr::null());
        let latin = c"\xb0C".as_ptr();
        for (kind, name, fields) in [
            (end, x, [end, end, end]),
            (ai, end, [end, end, end]),
            (ai, latin, [end, end, end]),
            (ai, x, [c"EGU".as_ptr(), latin, end]),
            (ai, x, [latin, c"1".as_ptr(), end]),
            (ai, x, [c"EGU".as_ptr(), end, end]),
        ] {
            assert!(create(kind, name, &fields).is_null());
        }
        assert_eq!(rtems_ioc_pv_delete(pv), 0);
        assert_eq!(rtems_ioc_pv_complete(pv, late, 1), -1);
        assert_eq!(rtems_ioc_pv_delete(note), 0);
        assert_eq!(rtems_ioc_pv_delete(std::ptr::null_mut()), -1);
    }
    assert!(circuit.create("c:value").is_err());
    ioc.stop();
}
