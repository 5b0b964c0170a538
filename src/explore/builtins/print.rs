//! The `printf` family: where the text goes, and what is returned.

use super::call::{Call, Outcome};
use super::format::format;
use super::stream::{self, Target};
use super::variadic::Arguments;
use crate::explore::fault::Fault;

/// Where the text of a `printf` function goes; numbers are positions of arguments.
#[derive(Clone, Copy, Debug)]
pub enum Destination {
    Standard,
    Stream(usize),
    Descriptor(usize),
    Buffer(usize),
    /// Buffer and size.
    Bounded(usize, usize),
    /// Where the pointer to a new string is stored.
    Allocated(usize),
}

/// Whether the arguments follow the format, or a `va_list` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    Direct,
    List,
}

/// Executes a function of the family whose format is the argument at `template`.
pub fn print(mut call: Call, destination: Destination, template: usize, passing: Passing) -> Outcome {
    let arguments = match passing {
        Passing::Direct => Arguments::Direct(template + 1),
        Passing::List => Arguments::list(&call, template + 1)?,
    };
    let template = call.pointer(template)?;
    let Some(text) = format(&mut call, template, arguments)? else {
        return call.integer(-1);
    };
    let length = text.len();
    let delivered = deliver(&mut call, destination, text)?;
    call.integer(if delivered { length as i128 } else { -1 })
}

/// Whether the text got where it should; only a new string can fail to.
fn deliver(call: &mut Call, destination: Destination, mut text: Vec<u8>) -> Result<bool, Fault> {
    match destination {
        Destination::Standard => stream::write(call, Target::Output, &text)?,
        Destination::Stream(position) => {
            let target = stream::target_of(call, position)?;
            stream::write(call, target, &text)?;
        }
        Destination::Descriptor(position) => {
            let target = stream::target_of_descriptor(call.int(position)?);
            stream::write(call, target, &text)?;
        }
        Destination::Buffer(position) => {
            text.push(0);
            let buffer = call.pointer(position)?;
            call.environment.write(buffer, &text)?;
        }
        Destination::Bounded(position, size) => {
            let (buffer, size) = (call.pointer(position)?, call.unsigned(size)?);
            if size > 0 {
                text.truncate(usize::try_from(size - 1).unwrap_or(usize::MAX));
                text.push(0);
                call.environment.write(buffer, &text)?;
            }
        }
        Destination::Allocated(position) => {
            text.push(0);
            let place = call.pointer(position)?;
            let buffer = call.environment.allocate(text.len() as u64, false)?;
            if buffer.is_null() {
                return Ok(false);
            }
            call.environment.write(buffer, &text)?;
            call.store_pointer(place, buffer)?;
        }
    }
    Ok(true)
}
