//! Reading numbers out of files that may be damaged: every access is checked.

/// The bytes from `offset` on, as many as asked, or none if the file is too short.
pub fn slice(bytes: &[u8], offset: u64, length: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    let end = start.checked_add(usize::try_from(length).ok()?)?;
    bytes.get(start..end)
}

/// A little-endian number of 1 to 8 bytes.
pub fn number(bytes: &[u8], offset: u64, width: u64) -> Option<u64> {
    let digits = slice(bytes, offset, width)?;
    Some(digits.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}
