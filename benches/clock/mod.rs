//! Processor time. What is measured runs one step after the other, so this is the time it takes on an idle machine, and a busy one
//! distorts it little.

/// Seconds of this process and of the children it has waited for.
pub fn processor_seconds() -> f64 {
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let of = |who: libc::c_int| {
        // SAFETY: a structure of numbers may be all zero, and is filled by the call.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            assert_eq!(libc::getrusage(who, &mut usage), 0);
            usage
        };
        seconds(usage.ru_utime) + seconds(usage.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}
