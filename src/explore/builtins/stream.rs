//! Streams: standard output and error are captured in order, standard input is empty, a file holds any bytes.
//!
//! # Deviations
//! 1. Buffers do not exist: what is written is out at once, so `_exit` and `abort` lose nothing.
//! 2. Standard input is at its end from the start: an assumption, noted at the first read.
//! 3. `fopen` may fail or succeed, by choice. What is written to a file is dropped; what is read from one is chosen byte by byte.
//!    That is exact for one file that is only read, from its beginning on. Reading after a file was written, positioned or opened
//!    again, and asking for a position, is an assumption; only the file that ended last remembers that it did.
//! 4. The state of a stream is the library's own: glibc locks it, so it is not checked for races.

use super::call::{Call, Outcome};
use super::errors::{self, EBADF, EINVAL, ENOENT, ENOMEM};
use super::text;
use crate::explore::environment::{Environment, Stream};
use crate::explore::fault::Fault;
use crate::explore::value::Pointer;
use crate::program::AssumptionKind;

/// What a `FILE *` or a descriptor stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Input,
    Output,
    Error,
    /// A file that was opened; by the address of its `FILE`, 0 for a descriptor.
    File(u64),
}

/// The size of glibc's `FILE`, so that a copy of one is in bounds.
pub const FILE_SIZE: usize = 216;
pub const EOF: i128 = -1;
const END_SLOT: &str = "the file at its end";
/// How many files were opened; the mark says that one was changed or positioned.
const FILES_SLOT: &str = "files";
const CHANGED_MARK: u64 = 1 << 32;
const PUSHED_SLOT: &str = "ungetc";
/// Tells a pushed zero byte from none.
const PUSHED_MARK: u64 = 0x100;

/// The object that `stdin`, `stdout` or `stderr` points to; the machine initialises the global of that name with it.
pub fn standard_stream(environment: &mut dyn Environment, name: &str) -> Result<Option<Pointer>, Fault> {
    match name {
        "stdin" | "stdout" | "stderr" => environment.library_object(name, &[0; FILE_SIZE]).map(Some),
        _ => Ok(None),
    }
}

/// The stream behind the `FILE *` at this position; a closed or null one is a fault.
pub fn target_of(call: &mut Call, position: usize) -> Result<Target, Fault> {
    let file = call.pointer(position)?;
    for (name, target) in [("stdin", Target::Input), ("stdout", Target::Output), ("stderr", Target::Error)] {
        if standard_stream(call.environment, name)?.is_some_and(|stream| stream.address == file.address) {
            return Ok(target);
        }
    }
    call.environment.peek(file, 1)?;
    Ok(Target::File(file.address))
}

pub fn target_of_descriptor(descriptor: i32) -> Target {
    match descriptor {
        0 => Target::Input,
        1 => Target::Output,
        2 => Target::Error,
        _ => Target::File(0),
    }
}

pub fn write(call: &mut Call, target: Target, bytes: &[u8]) -> Result<(), Fault> {
    match target {
        Target::Output => call.environment.write_output(Stream::Output, bytes),
        Target::Error => call.environment.write_output(Stream::Error, bytes),
        Target::Input => {}
        Target::File(_) => mark_changed(call.environment),
    }
    Ok(())
}

/// From now on what a file holds is not known to be what was chosen.
fn mark_changed(environment: &mut dyn Environment) {
    *environment.slot(FILES_SLOT) |= CHANGED_MARK;
}

/// A read that is not answered exactly.
fn note_read(environment: &mut dyn Environment, target: Target) {
    match target {
        Target::File(_) if *environment.slot(FILES_SLOT) > 1 => {
            environment.assume(AssumptionKind::FileContent, "what a file holds that was written, positioned or opened again");
        }
        Target::File(_) => {}
        Target::Input | Target::Output | Target::Error => {
            environment.assume(AssumptionKind::StandardInput, "standard input is empty");
        }
    }
}

/// The next byte of a stream, `None` at its end.
pub fn next_byte(call: &mut Call, target: Target) -> Option<u8> {
    let pushed = std::mem::take(call.environment.slot(PUSHED_SLOT));
    if pushed != 0 {
        return Some(pushed as u8);
    }
    note_read(call.environment, target);
    let identity = identity(target);
    let ends = match target {
        Target::File(_) if *call.environment.slot(END_SLOT) != identity => call.environment.choose(1, "the file ends here") == 1,
        Target::Input | Target::Output | Target::Error | Target::File(_) => true,
    };
    if ends {
        *call.environment.slot(END_SLOT) = identity;
        return None;
    }
    Some(call.environment.choose(8, "a byte of the file") as u8)
}

/// A number for the slot that remembers which stream ended; never 0.
fn identity(target: Target) -> u64 {
    match target {
        Target::Input => 1,
        Target::Output => 2,
        Target::Error => 3,
        Target::File(address) => address.max(4),
    }
}

pub fn puts(mut call: Call) -> Outcome {
    let start = call.pointer(0)?;
    let mut bytes = text::string(call.environment, start)?;
    bytes.push(b'\n');
    write(&mut call, Target::Output, &bytes)?;
    call.integer(bytes.len() as i128)
}

pub fn fputs(mut call: Call) -> Outcome {
    let start = call.pointer(0)?;
    let bytes = text::string(call.environment, start)?;
    let target = target_of(&mut call, 1)?;
    write(&mut call, target, &bytes)?;
    call.integer(1)
}

/// `putchar`, and `fputc` with the stream at position 1.
pub fn putc(mut call: Call, stream: Option<usize>) -> Outcome {
    let byte = call.int(0)? as u8;
    let target = stream.map_or(Ok(Target::Output), |position| target_of(&mut call, position))?;
    write(&mut call, target, &[byte])?;
    call.integer(byte.into())
}

pub fn fwrite(mut call: Call) -> Outcome {
    let (start, size, count) = (call.pointer(0)?, call.unsigned(1)?, call.unsigned(2)?);
    let target = target_of(&mut call, 3)?;
    let total = size.saturating_mul(count);
    if total == 0 {
        return call.integer(0);
    }
    let bytes = call.environment.read(start, total)?;
    write(&mut call, target, &bytes)?;
    call.integer(count.into())
}

/// POSIX `write`.
pub fn write_descriptor(mut call: Call) -> Outcome {
    let (descriptor, start, size) = (call.int(0)?, call.pointer(1)?, call.unsigned(2)?);
    if descriptor < 0 {
        call.set_errno(EBADF)?;
        return call.integer(-1);
    }
    let bytes = if size == 0 { Vec::new() } else { call.environment.read(start, size)? };
    write(&mut call, target_of_descriptor(descriptor), &bytes)?;
    call.integer(size.into())
}

/// POSIX `read`: nothing from standard input; from a file its end or one byte, which every reader must expect.
pub fn read_descriptor(mut call: Call) -> Outcome {
    let (descriptor, start, size) = (call.int(0)?, call.pointer(1)?, call.unsigned(2)?);
    if descriptor < 0 {
        call.set_errno(EBADF)?;
        return call.integer(-1);
    }
    if size == 0 {
        return call.integer(0);
    }
    note_read(call.environment, target_of_descriptor(descriptor));
    if descriptor <= 2 || call.environment.choose(1, "read ends here") == 1 {
        return call.integer(0);
    }
    let byte = call.environment.choose(8, "a byte that was read") as u8;
    call.environment.write(start, &[byte])?;
    call.integer(1)
}

/// `fseek`, `rewind`: another position in the same unknown file.
pub fn seek(mut call: Call) -> Outcome {
    if let Target::File(_) = target_of(&mut call, 0)? {
        mark_changed(call.environment);
    }
    accept(call, false)
}

/// Checks the stream, does nothing, returns 0 (`fflush`, `setbuf`, `clearerr`, …).
pub fn accept(mut call: Call, may_be_null: bool) -> Outcome {
    if !(may_be_null && call.pointer(0)?.is_null()) {
        target_of(&mut call, 0)?;
    }
    call.integer(0)
}

pub fn perror(mut call: Call) -> Outcome {
    let prefix = call.pointer(0)?;
    let prefix = if prefix.is_null() { Vec::new() } else { text::string(call.environment, prefix)? };
    let place = call.environment.errno();
    let number = call.load_integer(place, 32)? as i32;
    let mut line = prefix;
    if !line.is_empty() {
        line.extend_from_slice(b": ");
    }
    line.extend_from_slice(errors::message(number).as_bytes());
    line.push(b'\n');
    write(&mut call, Target::Error, &line)?;
    call.nothing()
}

/// `fopen`, `fdopen`, `tmpfile`: the strings named by position are read, then it works or it does not.
pub fn open(mut call: Call, strings: &[usize]) -> Outcome {
    for &position in strings {
        let start = call.pointer(position)?;
        text::string(call.environment, start)?;
    }
    if call.environment.choose(1, "the file can be opened") == 0 {
        call.set_errno(ENOENT)?;
        return call.pointer_result(Pointer::NULL);
    }
    *call.environment.slot(FILES_SLOT) += 1;
    let file = call.environment.allocate(FILE_SIZE as u64, true)?;
    call.pointer_result(file)
}

pub fn freopen(mut call: Call) -> Outcome {
    let (name, mode, file) = (call.pointer(0)?, call.pointer(1)?, call.pointer(2)?);
    if !name.is_null() {
        text::string(call.environment, name)?;
    }
    text::string(call.environment, mode)?;
    target_of(&mut call, 2)?;
    mark_changed(call.environment);
    call.environment.assume(AssumptionKind::FileContent, "freopen changes nothing");
    call.pointer_result(file)
}

pub fn fclose(mut call: Call) -> Outcome {
    let file = call.pointer(0)?;
    if let Target::File(_) = target_of(&mut call, 0)? {
        call.environment.free(file)?;
    }
    call.integer(0)
}

pub fn fileno(mut call: Call) -> Outcome {
    match target_of(&mut call, 0)? {
        Target::Input => call.integer(0),
        Target::Output => call.integer(1),
        Target::Error => call.integer(2),
        Target::File(_) => call.integer(3),
    }
}

pub fn feof(mut call: Call) -> Outcome {
    let target = target_of(&mut call, 0)?;
    let ended = *call.environment.slot(END_SLOT) == identity(target);
    call.integer(ended.into())
}

pub fn clearerr(mut call: Call) -> Outcome {
    let target = target_of(&mut call, 0)?;
    let slot = call.environment.slot(END_SLOT);
    if *slot == identity(target) {
        *slot = 0;
    }
    call.nothing()
}

/// The position in a file is any; standard streams have none.
pub fn ftell(mut call: Call) -> Outcome {
    match target_of(&mut call, 0)? {
        Target::File(_) => {
            call.environment.assume(AssumptionKind::FileContent, "the position in a file is any");
            let position = call.environment.choose(16, "the position in the file");
            call.integer(position as i128)
        }
        Target::Input | Target::Output | Target::Error => {
            call.set_errno(errors::ESPIPE)?;
            call.integer(-1)
        }
    }
}

/// `getchar`, and `fgetc` with the stream at position 0.
pub fn getc(mut call: Call, stream: Option<usize>) -> Outcome {
    let target = stream.map_or(Ok(Target::Input), |position| target_of(&mut call, position))?;
    let byte = next_byte(&mut call, target);
    call.integer(byte.map_or(EOF, i128::from))
}

/// One byte can be pushed back, and the next read of any stream gets it.
pub fn push_back(environment: &mut dyn Environment, byte: u8) {
    *environment.slot(PUSHED_SLOT) = PUSHED_MARK | u64::from(byte);
}

pub fn ungetc(call: Call) -> Outcome {
    let character = call.int(0)?;
    if character >= 0 {
        push_back(call.environment, character as u8);
    }
    call.integer(character.into())
}

/// `size` and `stream` are positions: the fortified form has one argument more.
pub fn fgets(mut call: Call, size: usize, stream: usize) -> Outcome {
    let (buffer, size) = (call.pointer(0)?, call.int(size)?);
    let target = target_of(&mut call, stream)?;
    if size <= 0 {
        call.set_errno(EINVAL)?;
        return call.pointer_result(Pointer::NULL);
    }
    let mut line = Vec::new();
    while line.len() + 1 < size as usize && line.last() != Some(&b'\n') {
        match next_byte(&mut call, target) {
            Some(byte) => line.push(byte),
            None if line.is_empty() => return call.pointer_result(Pointer::NULL),
            None => break,
        }
    }
    line.push(0);
    call.environment.write(buffer, &line)?;
    call.pointer_result(buffer)
}

/// `fread`; `first` is the position of the element size.
pub fn fread(mut call: Call, first: usize) -> Outcome {
    let (buffer, size, count) = (call.pointer(0)?, call.unsigned(first)?, call.unsigned(first + 1)?);
    let target = target_of(&mut call, first + 2)?;
    let total = size.saturating_mul(count);
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < total {
        match next_byte(&mut call, target) {
            Some(byte) => bytes.push(byte),
            None => break,
        }
    }
    if !bytes.is_empty() {
        call.environment.write(buffer, &bytes)?;
    }
    let whole = (bytes.len() as u64).checked_div(size).unwrap_or(0);
    call.integer(whole.into())
}

/// `getdelim`, and `getline` with a newline: the buffer grows as needed.
pub fn getdelim(mut call: Call, delimiter: u8, stream: usize) -> Outcome {
    let (place, size_place) = (call.pointer(0)?, call.pointer(1)?);
    let target = target_of(&mut call, stream)?;
    let mut line = Vec::new();
    while line.last() != Some(&delimiter) {
        match next_byte(&mut call, target) {
            Some(byte) => line.push(byte),
            None => break,
        }
    }
    if line.is_empty() {
        return call.integer(-1);
    }
    let length = line.len();
    line.push(0);
    let long_bits = call.long_bits();
    let mut buffer = call.load_pointer(place)?;
    let size = call.load_integer(size_place, long_bits)?;
    if buffer.is_null() || size < line.len() as u64 {
        let size = line.len().max(120) as u64;
        let larger = call.environment.allocate(size, false)?;
        if larger.is_null() {
            call.set_errno(ENOMEM)?;
            return call.integer(-1);
        }
        if !buffer.is_null() {
            call.environment.free(buffer)?;
        }
        buffer = larger;
        call.store_pointer(place, buffer)?;
        call.store_integer(size_place, long_bits, size.into())?;
    }
    call.environment.write(buffer, &line)?;
    call.integer(length as i128)
}

/// `remove`: works or does not.
pub fn remove(mut call: Call) -> Outcome {
    let name = call.pointer(0)?;
    text::string(call.environment, name)?;
    if call.environment.choose(1, "the file can be removed") == 0 {
        call.set_errno(ENOENT)?;
        return call.integer(-1);
    }
    call.integer(0)
}
