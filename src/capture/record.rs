//! One record for each object: its bitcode, or why it has none.
//!
//! ```text
//! "lckchk" 0 1          8 bytes: what it is, and the version of this format
//! length of the body    8 bytes, little-endian like all numbers here
//! hash of the body     16 bytes, XXH3
//! body:  kind           1 byte: 1 bitcode, 2 nothing but a reason
//!        source         4 bytes length, then the name as the compiler got it
//!        directory      the same: where the compiler ran
//!        file symbol    the same: the name by which the object's symbol table knows the source
//!        content        the rest: bitcode, or the reason
//! ```
//!
//! Linkers put records one after another, and may put zero bytes between them.

use xxhash_rust::xxh3::xxh3_128;

/// The section of an object, and of a program, that holds records.
pub const SECTION: &str = ".lockcheck";

const MAGIC: &[u8; 8] = b"lckchk\0\x01";
const HEAD_BYTES: usize = 32;
const BITCODE: u8 = 1;
const NOTHING: u8 = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub source: String,
    pub directory: String,
    /// invariant: what the object's symbol table says, or the last part of `source` when there was no object to ask.
    pub file_symbol: String,
    pub content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Bitcode(Vec<u8>),
    /// No bitcode, for this reason.
    Nothing(String),
}

impl Record {
    pub fn encode(&self) -> Vec<u8> {
        let (kind, content) = match &self.content {
            Content::Bitcode(bytes) => (BITCODE, &bytes[..]),
            Content::Nothing(reason) => (NOTHING, reason.as_bytes()),
        };
        let mut body = vec![kind];
        for text in [&self.source, &self.directory, &self.file_symbol] {
            body.extend((text.len() as u32).to_le_bytes());
            body.extend(text.as_bytes());
        }
        body.extend(content);
        let mut bytes = Vec::with_capacity(HEAD_BYTES + body.len());
        bytes.extend(MAGIC);
        bytes.extend((body.len() as u64).to_le_bytes());
        bytes.extend(xxh3_128(&body).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    fn decode(body: &[u8]) -> Option<Record> {
        let (&kind, mut rest) = body.split_first()?;
        let mut text = || {
            let (length, after) = rest.split_first_chunk::<4>()?;
            let (bytes, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            rest = after;
            Some(String::from_utf8_lossy(bytes).into_owned())
        };
        let (source, directory, file_symbol) = (text()?, text()?, text()?);
        let content = match kind {
            BITCODE => Content::Bitcode(rest.to_vec()),
            NOTHING => Content::Nothing(String::from_utf8_lossy(rest).into_owned()),
            _ => return None,
        };
        Some(Record { source, directory, file_symbol, content })
    }
}

/// All records of a section. One that is damaged makes the whole section an error: what comes after it cannot be trusted.
pub fn read_section(mut section: &[u8]) -> Result<Vec<Record>, String> {
    let mut records = Vec::new();
    loop {
        let start = section.iter().position(|&byte| byte != 0).unwrap_or(section.len());
        section = &section[start..];
        if section.is_empty() {
            return Ok(records);
        }
        let damaged = || format!("record {} of its section {SECTION} is damaged", records.len() + 1);
        let (head, rest) = section.split_first_chunk::<HEAD_BYTES>().ok_or_else(damaged)?;
        if head[..6] != MAGIC[..6] {
            return Err(damaged());
        }
        if head[..8] != MAGIC[..] {
            return Err("it was built by another version of lockcheck-cc; build it again".to_owned());
        }
        let length = u64::from_le_bytes(head[8..16].try_into().expect("eight bytes"));
        let length = usize::try_from(length).map_err(|_| damaged())?;
        let (body, after) = rest.split_at_checked(length).ok_or_else(damaged)?;
        if xxh3_128(body).to_le_bytes() != head[16..] {
            return Err(damaged());
        }
        let record = Record::decode(body).ok_or_else(damaged)?;
        records.push(record);
        section = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(name: &str) -> Record {
        let content = Content::Bitcode(vec![0, 1, 2, 0, 0]);
        Record { source: name.into(), directory: "/a b".into(), file_symbol: name.into(), content }
    }

    #[test]
    fn records_are_read_back_one_after_another_and_with_padding() {
        let nothing = Record { content: Content::Nothing("C++".into()), ..sample("b.cc") };
        let mut section = sample("a.c").encode();
        section.extend(nothing.encode());
        section.extend([0; 5]);
        section.extend(sample("").encode());
        section.push(0);
        assert_eq!(read_section(&section), Ok(vec![sample("a.c"), nothing, sample("")]));
        assert_eq!(read_section(&[]), Ok(vec![]));
    }

    #[test]
    fn every_changed_byte_and_every_cut_is_noticed() {
        let whole = sample("a.c").encode();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x41;
            assert!(read_section(&changed).is_err(), "byte {at}");
            if at > 0 {
                assert!(read_section(&whole[..at]).is_err(), "cut at {at}");
            }
        }
    }
}
