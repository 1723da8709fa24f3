// SPDX-License-Identifier: BSD-2-Clause
//! The C interface of `rtems_ioc_pv.h`.

#![allow(unsafe_code)]

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::ptr;

use super::host::{Host, host, shared};
use super::{Answer, CreateError, New, PutHandler, PutRequest, PutToken, Pv, SetError};
use crate::value::{Alarm, Elements, NativeType, Severity, Stamp, Status, Text};

/// The most fields given at a creation.
const MAX_FIELDS: usize = 64;
/// `RTEMS_IOC_INT64`, behind the types of Channel Access.
const INT64: c_uint = 7;
/// A user's or host's name for C, cut to this with its NUL.
const NAME: usize = 64;

/// `struct rtems_ioc_value`.
#[repr(C)]
pub struct Value {
    type_: c_uint,
    count: usize,
    data: *const c_void,
    status: c_uint,
    severity: c_uint,
    seconds: u32,
    nanoseconds: u32,
}

/// `struct rtems_ioc_put`.
#[repr(C)]
pub struct Put {
    type_: c_uint,
    count: usize,
    data: *const c_void,
    user: *const c_char,
    host: *const c_char,
    address: u32,
    waits: c_int,
    token: u32,
}

/// `rtems_ioc_put_handler`.
type CHandler = Option<unsafe extern "C" fn(context: *mut c_void, put: *const Put) -> c_int>;

/// A function of the application with its context.
struct Called {
    function: unsafe extern "C" fn(context: *mut c_void, put: *const Put) -> c_int,
    context: *mut c_void,
}

// SAFETY: the application gives a context that the server's task may use: rtems_ioc_pv.h says so.
unsafe impl Send for Called {}

/// Text with a NUL.
fn terminated(text: &[u8]) -> [u8; NAME] {
    let mut bytes = [0; NAME];
    let length = text.len().min(NAME - 1);
    bytes[..length].copy_from_slice(&text[..length]);
    bytes
}

impl PutHandler for Called {
    fn put(&mut self, request: &PutRequest<'_>) -> Answer {
        let (user, host) = (terminated(request.user), terminated(request.host));
        let (type_, data) = match request.value {
            Elements::String(v) => (NativeType::String as c_uint, v.as_ptr().cast()),
            Elements::Short(v) => (NativeType::Short as c_uint, v.as_ptr().cast()),
            Elements::Float(v) => (NativeType::Float as c_uint, v.as_ptr().cast()),
            Elements::Enum(v) => (NativeType::Enum as c_uint, v.as_ptr().cast()),
            Elements::Char(v) => (NativeType::Char as c_uint, v.as_ptr().cast()),
            Elements::Long(v) => (NativeType::Long as c_uint, v.as_ptr().cast()),
            Elements::Double(v) => (NativeType::Double as c_uint, v.as_ptr().cast()),
            Elements::Int64(v) => (INT64, v.as_ptr().cast()),
        };
        let put = Put {
            type_,
            count: request.value.len(),
            data,
            user: user.as_ptr().cast(),
            host: host.as_ptr().cast(),
            address: request.address,
            waits: c_int::from(request.waits),
            token: request.token.0,
        };
        // SAFETY: a function of the application with its own context; `put` and what it points to live during the call.
        match unsafe { (self.function)(self.context, &put) } {
            0 => Answer::Accept,
            2 => Answer::Later,
            _ => Answer::Refuse,
        }
    }
}

fn handler(function: CHandler, context: *mut c_void) -> Option<Box<dyn PutHandler>> {
    function.map(|function| Box::new(Called { function, context }) as Box<dyn PutHandler>)
}

/// Why an argument cannot be used.
fn bad(function: &str, what: &str, why: &str) {
    log::error!("{function}: {what} {why}");
}

/// # Safety
/// `text` is NULL or a C string that lives as long as the result is used.
unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, &'static str> {
    if text.is_null() {
        return Err("is NULL");
    }
    // SAFETY: not NULL, and a C string by this function's contract.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| "is not UTF-8")
}

/// The same for an argument that has to be there; the log says when it cannot be used.
///
/// # Safety
/// As of `text`.
unsafe fn argument<'a>(function: &str, what: &str, given: *const c_char) -> Option<&'a str> {
    // SAFETY: by this function's contract.
    unsafe { text(given) }.inspect_err(|why| bad(function, what, why)).ok()
}

/// The IOC, or a line of the log.
fn known_host(function: &str) -> Option<&'static dyn Host> {
    let host = host();
    if host.is_none() {
        bad(function, "the server", "has not been started");
    }
    host
}

fn handed(result: Result<Pv, CreateError>, name: &str) -> *mut Pv {
    match result {
        Ok(pv) => Box::into_raw(Box::new(pv)),
        Err(error) => {
            log::error!("process variable {name}: {error}");
            ptr::null_mut()
        }
    }
}

/// rtems_ioc_pv.h: creates a process variable; NULL when that failed (the log says why).
///
/// # Safety
/// `type_` and `name` are NULL or C strings; `fields` is NULL or an array of C strings, in pairs, that ends with NULL.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_pv_create(
    type_: *const c_char,
    name: *const c_char,
    fields: *const *const c_char,
    function: CHandler,
    context: *mut c_void,
) -> *mut Pv {
    const SELF: &str = "rtems_ioc_pv_create";
    // SAFETY: NULL or C strings by this function's contract.
    let Some(name) = (unsafe { argument(SELF, "the name", name) }) else { return ptr::null_mut() };
    // SAFETY: the same.
    let type_ = unsafe { argument(SELF, &format!("the type of {name}"), type_) };
    let (Some(type_), Some(host)) = (type_, known_host(SELF)) else { return ptr::null_mut() };
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    let mut at = fields;
    // SAFETY: the array ends with NULL, behind which nothing is read.
    while !at.is_null() && !unsafe { *at }.is_null() {
        // SAFETY: a C string that lives during this call, by this function's contract.
        let field = unsafe { argument(SELF, &format!("a field's name of {name}"), *at) };
        let Some(field) = field else { return ptr::null_mut() };
        // SAFETY: a name is not the last element, so that there is one behind it.
        let value = unsafe { argument(SELF, &format!("the value of {name}.{field}"), *at.add(1)) };
        let Some(value) = value else { return ptr::null_mut() };
        if pairs.len() == MAX_FIELDS || pairs.try_reserve(1).is_err() {
            bad(SELF, name, "has more fields than there is room for");
            return ptr::null_mut();
        }
        pairs.push((field, value));
        // SAFETY: two elements were there.
        at = unsafe { at.add(2) };
    }
    handed(host.create(type_, name, &pairs, handler(function, context)), name)
}

/// rtems_ioc_pv.h: takes a record of a .db file over; NULL when that failed (the log says why).
///
/// # Safety
/// `name` is NULL or a C string.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_pv_open(
    name: *const c_char,
    function: CHandler,
    context: *mut c_void,
) -> *mut Pv {
    const SELF: &str = "rtems_ioc_pv_open";
    // SAFETY: NULL or a C string by this function's contract.
    let name = unsafe { argument(SELF, "the name", name) };
    let (Some(name), Some(host)) = (name, known_host(SELF)) else { return ptr::null_mut() };
    handed(host.open(name, handler(function, context)), name)
}

/// 0, or what rtems_ioc_pv.h says.
fn code(result: Result<(), SetError>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(SetError::Busy) => -2,
        Err(_) => -1,
    }
}

/// # Safety
/// `pv` is NULL or a handle that was not deleted.
#[inline]
unsafe fn set<'a>(pv: *const Pv, value: impl Into<New<'a>>) -> c_int {
    // SAFETY: a handle is the address of a `Pv` that lives until it is deleted.
    unsafe { pv.as_ref() }.map_or(-1, |pv| code(pv.set(value)))
}

/// rtems_ioc_pv.h: sets a number.
///
/// # Safety
/// `pv` is NULL or a handle that was not deleted.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_pv_set_double(pv: *mut Pv, value: f64) -> c_int {
    // SAFETY: by this function's contract.
    unsafe { set(pv, value) }
}

/// rtems_ioc_pv.h: sets an integer or state.
///
/// # Safety
/// `pv` is NULL or a handle that was not deleted.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_pv_set_long(pv: *mut Pv, value: i32) -> c_int {
    // SAFETY: by this function's contract.
    unsafe { set(pv, value) }
}

/// rtems_ioc_pv.h: sets text.
///
/// # Safety
/// `pv` is NULL or a handle that was not deleted, `value` a C string.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_pv_set_text(pv: *mut Pv, value: *const c_char) -> c_int {
    if value.is_null() {
        return -1;
    }
    // SAFETY: not NULL by the line above, and a C string by this function's contract.
    let bytes = unsafe { CStr::from_ptr(value) }.to_bytes();
    // SAFETY: by this function's contract.
    unsafe { set(pv, New::Text(bytes)) }
}

/// rtems_ioc_pv.h: sets a value with alarm and time.
///
/// # Safety
/// `pv` is NULL or a handle that was not deleted; `value` is NULL or describes `count` elements of its type.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_pv_set(pv: *mut Pv, value: *const Value) -> c_int {
    // SAFETY: by this function's contract.
    let (Some(pv), Some(value)) = (unsafe { pv.as_ref() }, unsafe { value.as_ref() }) else { return -1 };
    if value.count > 0 && value.data.is_null() {
        return -1;
    }
    let alarm = Alarm {
        status: Status::from_code(u16::try_from(value.status).unwrap_or(u16::MAX)),
        severity: Severity::from_code(u16::try_from(value.severity).unwrap_or(u16::MAX)),
    };
    let stamp = Stamp { seconds: value.seconds, nanoseconds: value.nanoseconds };
    let stamp = (stamp != Stamp::UNSET).then_some(stamp);
    macro_rules! slice {
        ($type:ty) => {
            if value.count == 0 {
                &[][..]
            } else {
                // SAFETY: not NULL by the check above; so many elements of this type by this function's contract.
                unsafe { core::slice::from_raw_parts(value.data.cast::<$type>(), value.count) }
            }
        };
    }
    let one = |elements| if value.count == 1 { scalar(elements) } else { New::Elements(elements) };
    let new = match value.type_ {
        INT64 => match slice!(i64) {
            [one] => New::Integer(*one),
            _ => return -1,
        },
        code => match u16::try_from(code).ok().and_then(NativeType::from_code) {
            Some(NativeType::String) => New::Elements(Elements::String(slice!(Text))),
            Some(NativeType::Short) => New::Elements(Elements::Short(slice!(i16))),
            Some(NativeType::Float) => New::Elements(Elements::Float(slice!(f32))),
            Some(NativeType::Enum) => New::Elements(Elements::Enum(slice!(u16))),
            Some(NativeType::Char) => New::Elements(Elements::Char(slice!(u8))),
            Some(NativeType::Long) => New::Elements(Elements::Long(slice!(i32))),
            Some(NativeType::Double) => New::Elements(Elements::Double(slice!(f64))),
            None => return -1,
        },
    };
    let new = match new {
        // A waveform takes one element, too, so the record decides: first as an array, then as what it is alone.
        New::Elements(elements) => match pv.set_with(elements, alarm, stamp) {
            Err(SetError::Type) if value.count == 1 => one(elements),
            result => return code(result),
        },
        new => new,
    };
    code(pv.set_with(new, alarm, stamp))
}

/// One element by itself.
fn scalar(elements: Elements<'_>) -> New<'_> {
    match elements {
        Elements::String([text]) => New::Text(text.as_bytes()),
        Elements::Short(&[v]) => v.into(),
        Elements::Float(&[v]) => v.into(),
        Elements::Enum(&[v]) => v.into(),
        Elements::Char(&[v]) => v.into(),
        Elements::Long(&[v]) => v.into(),
        Elements::Double(&[v]) => v.into(),
        Elements::Int64(&[v]) => v.into(),
        elements => New::Elements(elements),
    }
}

/// rtems_ioc_pv.h: ends a put whose handler said "later". The handle is not looked at: it may be gone, and the token says
/// which put is meant.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub extern "C" fn rtems_ioc_pv_complete(_pv: *mut Pv, token: u32, succeeded: c_int) -> c_int {
    match shared() {
        Some(shared) if shared.complete(PutToken(token), succeeded != 0) => 0,
        _ => -1,
    }
}

/// rtems_ioc_pv.h: deletes a process variable and its handle.
///
/// # Safety
/// `pv` is NULL or a handle that was not deleted; nobody uses it afterwards.
// SAFETY: the name belongs to this package.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtems_ioc_pv_delete(pv: *mut Pv) -> c_int {
    let Some(host) = host().filter(|_| !pv.is_null()) else { return -1 };
    // SAFETY: made by `handed` with Box::into_raw, and given back once by this function's contract.
    let pv = unsafe { Box::from_raw(pv) };
    if host.delete(&pv) { 0 } else { -1 }
}
