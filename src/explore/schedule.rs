//! A schedule: which thread took each step, and what the program got from outside. Enough to run it again.
//!
//! # Text form    `lc1:` and the bytes in the URL-safe alphabet of base 64, without padding. The bytes are: how many follow, the
//!                program's fingerprint (8), the number of runs, a thread and a count for each, the number of inputs, each input, and
//!                a checksum (4). Numbers are in groups of 7 bits, low ones first.

pub mod encoding;
pub mod fingerprint;

use std::fmt;
use std::str::FromStr;

use super::thread_id::ThreadId;
use encoding::{ReadError, Reader, checksum, decode_base64, encode_base64, write_number};
pub use fingerprint::fingerprint;

/// Steps of one thread in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    pub thread: ThreadId,
    /// At least 1.
    pub count: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    fingerprint: u64,
    /// Invariant: two neighbours name different threads.
    runs: Vec<Run>,
    inputs: Vec<u128>,
}

impl Schedule {
    /// Nothing has happened yet in the program with this fingerprint.
    pub fn new(fingerprint: u64) -> Schedule {
        Schedule { fingerprint, runs: Vec::new(), inputs: Vec::new() }
    }

    /// Of the program it was recorded with.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    pub fn inputs(&self) -> &[u128] {
        &self.inputs
    }

    pub fn push_step(&mut self, thread: ThreadId) {
        match self.runs.last_mut() {
            Some(run) if run.thread == thread => run.count += 1,
            _ => self.runs.push(Run { thread, count: 1 }),
        }
    }

    pub fn push_input(&mut self, value: u128) {
        self.inputs.push(value);
    }

    /// How many steps it has.
    pub fn length(&self) -> u64 {
        self.runs.iter().map(|run| run.count).sum()
    }
}

const VERSION: u32 = 1;
const CHECKSUM_BYTES: usize = 4;

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut body = self.fingerprint.to_le_bytes().to_vec();
        write_number(&mut body, self.runs.len() as u128);
        for run in &self.runs {
            write_number(&mut body, u128::from(run.thread.0));
            write_number(&mut body, u128::from(run.count));
        }
        write_number(&mut body, self.inputs.len() as u128);
        for input in &self.inputs {
            write_number(&mut body, *input);
        }
        body.extend(checksum(&body).to_le_bytes());
        let mut bytes = Vec::new();
        write_number(&mut bytes, body.len() as u128);
        bytes.extend(body);
        write!(f, "lc{VERSION}:{}", encode_base64(&bytes))
    }
}

/// Why a text is no schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    #[error("not a schedule token: it should begin with `lc1:`")]
    NotAToken,
    #[error("the schedule token has version {0}, this program reads version {VERSION}")]
    WrongVersion(String),
    #[error("the schedule token is truncated: its end is missing")]
    Truncated,
    #[error("the schedule token is corrupt: {0}")]
    Corrupt(&'static str),
}

impl From<ReadError> for ParseError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Ended => ParseError::Corrupt("it ends inside a number"),
            ReadError::TooLarge => ParseError::Corrupt("a number is too large"),
        }
    }
}

impl FromStr for Schedule {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Schedule, ParseError> {
        let (version, body) =
            text.trim().strip_prefix("lc").and_then(|rest| rest.split_once(':')).ok_or(ParseError::NotAToken)?;
        if version.is_empty() || !version.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ParseError::NotAToken);
        }
        if version != VERSION.to_string() {
            return Err(ParseError::WrongVersion(version.to_owned()));
        }
        let (bytes, ends_clean) = decode_base64(body).ok_or(ParseError::Corrupt("it has a character that no token has"))?;
        let mut outer = Reader::new(&bytes);
        let length = outer.number().map_err(|_| ParseError::Truncated)?;
        let body = outer.rest();
        if (body.len() as u128) < length {
            return Err(ParseError::Truncated);
        }
        if !ends_clean || body.len() as u128 > length || body.len() < CHECKSUM_BYTES {
            return Err(ParseError::Corrupt("its length is wrong"));
        }
        let (content, sum) = body.split_at(body.len() - CHECKSUM_BYTES);
        if checksum(content).to_le_bytes() != sum {
            return Err(ParseError::Corrupt("its checksum is wrong"));
        }
        read_content(content)
    }
}

fn read_content(content: &[u8]) -> Result<Schedule, ParseError> {
    let mut reader = Reader::new(content);
    let fingerprint = u64::from_le_bytes(*reader.bytes::<8>()?);
    let mut schedule = Schedule::new(fingerprint);
    for _ in 0..reader.number()? {
        let thread = u32::try_from(reader.number()?).map_err(|_| ParseError::Corrupt("a thread number is too large"))?;
        let count = u64::try_from(reader.number()?).map_err(|_| ParseError::Corrupt("a step count is too large"))?;
        let repeats = schedule.runs.last().is_some_and(|last| last.thread.0 == thread);
        if count == 0 || repeats {
            return Err(ParseError::Corrupt("a run is empty or repeated"));
        }
        schedule.runs.push(Run { thread: ThreadId(thread), count });
    }
    for _ in 0..reader.number()? {
        let input = reader.number()?;
        schedule.inputs.push(input);
    }
    if reader.rest().is_empty() { Ok(schedule) } else { Err(ParseError::Corrupt("something follows its end")) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn schedules() -> impl Strategy<Value = Schedule> {
        let steps = prop::collection::vec((0u32..6, 1u64..4000), 0..40);
        (any::<u64>(), steps, prop::collection::vec(any::<u128>(), 0..10)).prop_map(|(fingerprint, runs, inputs)| {
            let mut schedule = Schedule::new(fingerprint);
            for (thread, count) in runs {
                (0..count.min(50)).for_each(|_| schedule.push_step(ThreadId(thread)));
            }
            inputs.into_iter().for_each(|input| schedule.push_input(input));
            schedule
        })
    }

    proptest! {
        #[test]
        fn a_schedule_survives_its_text(schedule in schedules()) {
            let text = schedule.to_string();
            prop_assert!(text.bytes().skip(4).all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
            prop_assert_eq!(text.parse::<Schedule>(), Ok(schedule));
        }

        #[test]
        fn a_cut_token_is_called_truncated(schedule in schedules(), cut in 0.0f64..1.0) {
            let text = schedule.to_string();
            let kept = 4 + ((text.len() - 5) as f64 * cut) as usize;
            prop_assert_eq!(text[..kept].parse::<Schedule>(), Err(ParseError::Truncated));
        }

        #[test]
        fn a_changed_token_is_never_taken_for_another(schedule in schedules(), position in any::<prop::sample::Index>(), to in 0usize..64) {
            let mut text = schedule.to_string().into_bytes();
            let position = 4 + position.index(text.len() - 4);
            let replacement = encoding::ALPHABET[to];
            prop_assume!(text[position] != replacement);
            text[position] = replacement;
            prop_assert!(String::from_utf8(text).unwrap().parse::<Schedule>().is_err());
        }

        #[test]
        fn any_text_is_answered(text in "\\PC*") {
            let _ = text.parse::<Schedule>();
            let _ = format!("lc1:{text}").parse::<Schedule>();
        }
    }

    #[test]
    fn errors_say_what_is_wrong() {
        assert_eq!("hello".parse::<Schedule>(), Err(ParseError::NotAToken));
        assert_eq!("lcx:AAAA".parse::<Schedule>(), Err(ParseError::NotAToken));
        assert_eq!("lc2:AAAA".parse::<Schedule>(), Err(ParseError::WrongVersion("2".to_owned())));
        assert_eq!("lc1:".parse::<Schedule>(), Err(ParseError::Truncated));
        assert!(matches!("lc1:A*AA".parse::<Schedule>(), Err(ParseError::Corrupt(_))));
        let text = Schedule::new(7).to_string();
        assert!(matches!(format!("{text}AAAA").parse::<Schedule>(), Err(ParseError::Corrupt(_))));
        assert_eq!(format!(" {text}\n").parse::<Schedule>(), Ok(Schedule::new(7)));
    }

    #[test]
    fn steps_in_a_row_are_counted() {
        let mut schedule = Schedule::new(0);
        [0, 0, 1, 1, 1, 0].into_iter().for_each(|thread| schedule.push_step(ThreadId(thread)));
        let runs: Vec<_> = schedule.runs().iter().map(|run| (run.thread.0, run.count)).collect();
        assert_eq!(runs, [(0, 2), (1, 3), (0, 1)]);
        assert_eq!(schedule.length(), 6);
    }
}
