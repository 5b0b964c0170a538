//! Finding things in strings: characters, sets of characters, other strings, tokens.

use super::call::{Call, Outcome, offset};
use super::memory::find;
use super::text;
use crate::explore::fault::Fault;
use crate::explore::value::Pointer;

/// `strchr`; `strchrnul` returns the terminator where there is none.
pub fn strchr(call: Call, or_end: bool) -> Outcome {
    let (start, wanted) = (call.pointer(0)?, call.int(1)? as u8);
    let scan = text::scan(call.environment, start, u64::MAX, |byte| byte == wanted || byte == 0)?;
    let found = or_end || scan.bytes.last() == Some(&wanted);
    call.pointer_result(if found { offset(start, scan.bytes.len() as u64 - 1) } else { Pointer::NULL })
}

pub fn strrchr(call: Call) -> Outcome {
    let (start, wanted) = (call.pointer(0)?, call.int(1)? as u8);
    let mut bytes = text::string(call.environment, start)?;
    bytes.push(0);
    let found = bytes.iter().rposition(|&byte| byte == wanted);
    call.pointer_result(found.map_or(Pointer::NULL, |index| offset(start, index as u64)))
}

/// `strstr`; `fold` makes it ignore case. The hay is read to the end of the match, or wholly when there is none.
pub fn strstr(call: Call, fold: fn(u8) -> u8) -> Outcome {
    let (start, needle) = (call.pointer(0)?, call.pointer(1)?);
    let needle: Vec<u8> = text::string(call.environment, needle)?.into_iter().map(fold).collect();
    let seen: Vec<u8> = text::peek_string(call.environment, start)?.into_iter().map(fold).collect();
    match find(&seen, &needle) {
        Some(index) => {
            text::touch(call.environment, start, (index + needle.len()) as u64)?;
            call.pointer_result(offset(start, index as u64))
        }
        None => {
            text::string(call.environment, start)?;
            call.pointer_result(Pointer::NULL)
        }
    }
}

/// The first byte of the string at 0 for which "is in the set at 1" equals `in_set`; its position, the terminator's if none.
fn span(call: &mut Call, in_set: bool) -> Result<(Pointer, u64, bool), Fault> {
    let (start, set) = (call.pointer(0)?, call.pointer(1)?);
    let set = text::string(call.environment, set)?;
    let scan = text::scan(call.environment, start, u64::MAX, |byte| byte == 0 || set.contains(&byte) == in_set)?;
    Ok((start, scan.bytes.len() as u64 - 1, scan.bytes.last() != Some(&0)))
}

pub fn strspn(mut call: Call) -> Outcome {
    let (_, length, _) = span(&mut call, false)?;
    call.integer(length.into())
}

pub fn strcspn(mut call: Call) -> Outcome {
    let (_, length, _) = span(&mut call, true)?;
    call.integer(length.into())
}

pub fn strpbrk(mut call: Call) -> Outcome {
    let (start, length, found) = span(&mut call, true)?;
    call.pointer_result(if found { offset(start, length) } else { Pointer::NULL })
}

/// Cuts the next token off the string at `start`: the token, and where to go on.
fn next_token(call: &mut Call, start: Pointer, separators: &[u8]) -> Result<(Pointer, Pointer), Fault> {
    let leading = text::scan(call.environment, start, u64::MAX, |byte| byte == 0 || !separators.contains(&byte))?;
    let token = offset(start, leading.bytes.len() as u64 - 1);
    if leading.bytes.last() == Some(&0) {
        return Ok((Pointer::NULL, token));
    }
    let rest = text::scan(call.environment, token, u64::MAX, |byte| byte == 0 || separators.contains(&byte))?;
    let end = offset(token, rest.bytes.len() as u64 - 1);
    if rest.bytes.last() == Some(&0) {
        return Ok((token, end));
    }
    call.environment.write(end, &[0])?;
    Ok((token, offset(end, 1)))
}

/// The place where `strtok` goes on is the library's own: it is not checked for races.
pub fn strtok(mut call: Call) -> Outcome {
    let (given, separators) = (call.pointer(0)?, call.pointer(1)?);
    let separators = text::string(call.environment, separators)?;
    let saved = *call.environment.slot("strtok");
    let start = if given.is_null() { call.environment.resolve(saved) } else { given };
    if start.is_null() {
        return call.pointer_result(Pointer::NULL);
    }
    let (token, rest) = next_token(&mut call, start, &separators)?;
    *call.environment.slot("strtok") = rest.address;
    call.pointer_result(token)
}

pub fn strtok_r(mut call: Call) -> Outcome {
    let (given, separators, place) = (call.pointer(0)?, call.pointer(1)?, call.pointer(2)?);
    let separators = text::string(call.environment, separators)?;
    let start = if given.is_null() { call.load_pointer(place)? } else { given };
    if start.is_null() {
        return call.pointer_result(Pointer::NULL);
    }
    let (token, rest) = next_token(&mut call, start, &separators)?;
    call.store_pointer(place, rest)?;
    call.pointer_result(token)
}

pub fn strsep(mut call: Call) -> Outcome {
    let (place, separators) = (call.pointer(0)?, call.pointer(1)?);
    let start = call.load_pointer(place)?;
    if start.is_null() {
        return call.pointer_result(Pointer::NULL);
    }
    let separators = text::string(call.environment, separators)?;
    let scan = text::scan(call.environment, start, u64::MAX, |byte| byte == 0 || separators.contains(&byte))?;
    let end = offset(start, scan.bytes.len() as u64 - 1);
    let rest = if scan.bytes.last() == Some(&0) {
        Pointer::NULL
    } else {
        call.environment.write(end, &[0])?;
        offset(end, 1)
    };
    call.store_pointer(place, rest)?;
    call.pointer_result(start)
}
