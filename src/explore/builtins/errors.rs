//! `errno` numbers of Linux and their messages in the C locale.

use super::call::{Call, Outcome};
use crate::explore::environment::Environment;
use crate::explore::fault::Fault;
use crate::explore::value::Pointer;

pub const ENOENT: i32 = 2;
pub const EBADF: i32 = 9;
pub const ENOMEM: i32 = 12;
pub const EINVAL: i32 = 22;
pub const ESPIPE: i32 = 29;
pub const EDOM: i32 = 33;
pub const ERANGE: i32 = 34;
pub const EILSEQ: i32 = 84;

/// What `strerror` says.
pub fn message(number: i32) -> String {
    match usize::try_from(number).ok().and_then(|index| MESSAGES.get(index)) {
        Some(text) if !text.is_empty() => (*text).to_owned(),
        _ => format!("Unknown error {number}"),
    }
}

/// The message as an object of the library.
fn message_object(environment: &mut dyn Environment, number: i32) -> Result<Pointer, Fault> {
    let mut bytes = message(number).into_bytes();
    bytes.push(0);
    environment.library_object(&format!("strerror {number}"), &bytes)
}

pub fn strerror(call: Call) -> Outcome {
    let number = call.int(0)?;
    let text = message_object(call.environment, number)?;
    call.pointer_result(text)
}

/// GNU's `strerror_r` returns the message itself; POSIX's (`__xpg_strerror_r`, an `int`) fills the buffer.
pub fn strerror_r(call: Call) -> Outcome {
    let (number, buffer, size) = (call.int(0)?, call.pointer(1)?, call.unsigned(2)?);
    if call.return_type == crate::program::Type::POINTER {
        let text = message_object(call.environment, number)?;
        return call.pointer_result(text);
    }
    let mut bytes = message(number).into_bytes();
    let fits = (bytes.len() as u64) < size;
    bytes.truncate(size.saturating_sub(1) as usize);
    if size > 0 {
        bytes.push(0);
        call.environment.write(buffer, &bytes)?;
    }
    call.integer(if fits { 0 } else { ERANGE.into() })
}

pub fn strsignal(call: Call) -> Outcome {
    let number = call.int(0)?;
    let text = match usize::try_from(number).ok().and_then(|index| SIGNALS.get(index)) {
        Some(text) if !text.is_empty() => (*text).to_owned(),
        _ => format!("Unknown signal {number}"),
    };
    let mut bytes = text.into_bytes();
    bytes.push(0);
    let place = call.environment.library_object(&format!("strsignal {number}"), &bytes)?;
    call.pointer_result(place)
}

/// By number; empty where there is none.
const MESSAGES: [&str; 134] = [
    "Success",
    "Operation not permitted",
    "No such file or directory",
    "No such process",
    "Interrupted system call",
    "Input/output error",
    "No such device or address",
    "Argument list too long",
    "Exec format error",
    "Bad file descriptor",
    "No child processes",
    "Resource temporarily unavailable",
    "Cannot allocate memory",
    "Permission denied",
    "Bad address",
    "Block device required",
    "Device or resource busy",
    "File exists",
    "Invalid cross-device link",
    "No such device",
    "Not a directory",
    "Is a directory",
    "Invalid argument",
    "Too many open files in system",
    "Too many open files",
    "Inappropriate ioctl for device",
    "Text file busy",
    "File too large",
    "No space left on device",
    "Illegal seek",
    "Read-only file system",
    "Too many links",
    "Broken pipe",
    "Numerical argument out of domain",
    "Numerical result out of range",
    "Resource deadlock avoided",
    "File name too long",
    "No locks available",
    "Function not implemented",
    "Directory not empty",
    "Too many levels of symbolic links",
    "",
    "No message of desired type",
    "Identifier removed",
    "Channel number out of range",
    "Level 2 not synchronized",
    "Level 3 halted",
    "Level 3 reset",
    "Link number out of range",
    "Protocol driver not attached",
    "No CSI structure available",
    "Level 2 halted",
    "Invalid exchange",
    "Invalid request descriptor",
    "Exchange full",
    "No anode",
    "Invalid request code",
    "Invalid slot",
    "",
    "Bad font file format",
    "Device not a stream",
    "No data available",
    "Timer expired",
    "Out of streams resources",
    "Machine is not on the network",
    "Package not installed",
    "Object is remote",
    "Link has been severed",
    "Advertise error",
    "Srmount error",
    "Communication error on send",
    "Protocol error",
    "Multihop attempted",
    "RFS specific error",
    "Bad message",
    "Value too large for defined data type",
    "Name not unique on network",
    "File descriptor in bad state",
    "Remote address changed",
    "Can not access a needed shared library",
    "Accessing a corrupted shared library",
    ".lib section in a.out corrupted",
    "Attempting to link in too many shared libraries",
    "Cannot exec a shared library directly",
    "Invalid or incomplete multibyte or wide character",
    "Interrupted system call should be restarted",
    "Streams pipe error",
    "Too many users",
    "Socket operation on non-socket",
    "Destination address required",
    "Message too long",
    "Protocol wrong type for socket",
    "Protocol not available",
    "Protocol not supported",
    "Socket type not supported",
    "Operation not supported",
    "Protocol family not supported",
    "Address family not supported by protocol",
    "Address already in use",
    "Cannot assign requested address",
    "Network is down",
    "Network is unreachable",
    "Network dropped connection on reset",
    "Software caused connection abort",
    "Connection reset by peer",
    "No buffer space available",
    "Transport endpoint is already connected",
    "Transport endpoint is not connected",
    "Cannot send after transport endpoint shutdown",
    "Too many references: cannot splice",
    "Connection timed out",
    "Connection refused",
    "Host is down",
    "No route to host",
    "Operation already in progress",
    "Operation now in progress",
    "Stale file handle",
    "Structure needs cleaning",
    "Not a XENIX named type file",
    "No XENIX semaphores available",
    "Is a named type file",
    "Remote I/O error",
    "Disk quota exceeded",
    "No medium found",
    "Wrong medium type",
    "Operation canceled",
    "Required key not available",
    "Key has expired",
    "Key has been revoked",
    "Key was rejected by service",
    "Owner died",
    "State not recoverable",
    "Operation not possible due to RF-kill",
    "Memory page has hardware error",
];

const SIGNALS: [&str; 32] = [
    "",
    "Hangup",
    "Interrupt",
    "Quit",
    "Illegal instruction",
    "Trace/breakpoint trap",
    "Aborted",
    "Bus error",
    "Floating point exception",
    "Killed",
    "User defined signal 1",
    "Segmentation fault",
    "User defined signal 2",
    "Broken pipe",
    "Alarm clock",
    "Terminated",
    "Stack fault",
    "Child exited",
    "Continued",
    "Stopped (signal)",
    "Stopped",
    "Stopped (tty input)",
    "Stopped (tty output)",
    "Urgent I/O condition",
    "CPU time limit exceeded",
    "File size limit exceeded",
    "Virtual timer expired",
    "Profiling timer expired",
    "Window changed",
    "I/O possible",
    "Power failure",
    "Bad system call",
];
