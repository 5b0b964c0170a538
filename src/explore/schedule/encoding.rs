//! The bytes and letters of schedule tokens.

/// RFC 4648, section 5.
pub const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Six bits a letter, the last one filled with zeros; no padding.
pub fn encode_base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut word = [0; 4];
        word[1..=chunk.len()].copy_from_slice(chunk);
        let word = u32::from_be_bytes(word);
        for letter in 0..=chunk.len() {
            text.push(char::from(ALPHABET[(word >> (18 - 6 * letter) & 63) as usize]));
        }
    }
    text
}

/// The bytes, and whether the bits beyond the last whole byte are 0; `None` when a letter is not in the alphabet.
pub fn decode_base64(text: &str) -> Option<(Vec<u8>, bool)> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut word, mut bits) = (0u32, 0);
    for letter in text.bytes() {
        let value = ALPHABET.iter().position(|known| *known == letter)?;
        word = word << 6 | value as u32;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
            word &= (1 << bits) - 1;
        }
    }
    Some((bytes, word == 0))
}

/// Seven bits a byte, low ones first; the top bit says that more follow.
pub fn write_number(bytes: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    Ended,
    TooLarge,
}

pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes }
    }

    pub fn number(&mut self) -> Result<u128, ReadError> {
        let (mut number, mut shift) = (0u128, 0);
        loop {
            let [byte] = *self.bytes::<1>()?;
            let group = u128::from(byte & 0x7f);
            if shift >= 128 || group << shift >> shift != group {
                return Err(ReadError::TooLarge);
            }
            number |= group << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
    }

    pub fn bytes<const COUNT: usize>(&mut self) -> Result<&'a [u8; COUNT], ReadError> {
        let (taken, rest) = self.bytes.split_first_chunk().ok_or(ReadError::Ended)?;
        self.bytes = rest;
        Ok(taken)
    }

    pub fn rest(&self) -> &'a [u8] {
        self.bytes
    }
}

/// FNV-1a, 32 bits (Fowler, Noll, Vo).
pub fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum: u32, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_those_of_the_standard() {
        for (bytes, text) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(encode_base64(bytes.as_bytes()), text);
            assert_eq!(decode_base64(text), Some((bytes.as_bytes().to_vec(), true)));
        }
        assert_eq!(encode_base64(&[0xfb, 0xff]), "-_8");
        assert_eq!(decode_base64("Zg="), None);
        assert_eq!(decode_base64("Zh"), Some((b"f".to_vec(), false)));
    }

    #[test]
    fn numbers_of_all_sizes_come_back() {
        for number in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, u128::from(u64::MAX), u128::MAX] {
            let mut bytes = Vec::new();
            write_number(&mut bytes, number);
            assert_eq!(Reader::new(&bytes).number(), Ok(number));
        }
        assert_eq!(Reader::new(&[0xff; 30]).number(), Err(ReadError::TooLarge));
        assert_eq!(Reader::new(&[0x80]).number(), Err(ReadError::Ended));
    }

    #[test]
    fn the_checksum_is_that_of_the_reference() {
        assert_eq!(checksum(b""), 0x811c_9dc5);
        assert_eq!(checksum(b"foobar"), 0xbf9c_f968);
    }
}
