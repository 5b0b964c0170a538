//! Inputs that are tried one after another: each request forks over its values.

use crate::explore::machine::Inputs;
use crate::explore::scheduler::InputRequest;

/// A request with at most so many answers is answered with each of them.
const MOST_VALUES: u128 = 8;

/// What one request is answered with, and what it could still be answered with.
#[derive(Clone, Debug)]
struct Answer {
    values: Vec<u128>,
    chosen: usize,
}

/// The answers of one transition: those that were fixed before, then the first one of every further request.
#[derive(Clone, Debug, Default)]
pub struct Script {
    answers: Vec<Answer>,
    given: usize,
    is_sampled: bool,
}

impl Inputs for Script {
    fn input(&mut self, request: &InputRequest<'_>) -> u128 {
        if self.given == self.answers.len() {
            let (values, is_all) = values_of(request);
            self.is_sampled |= !is_all;
            self.answers.push(Answer { values, chosen: 0 });
        }
        let answer = &self.answers[self.given];
        self.given += 1;
        let value = answer.values[answer.chosen];
        assert!(request.allows(value), "the same transition asks for other inputs when it is repeated: {request:?}");
        value
    }
}

impl Script {
    pub fn values(&self) -> impl Iterator<Item = u128> {
        self.answers.iter().map(|answer| answer.values[answer.chosen])
    }

    /// Some request had more values than are tried.
    pub fn is_sampled(&self) -> bool {
        self.is_sampled
    }

    /// The next combination; the last request turns fastest, because what is asked for later depends on earlier answers.
    pub fn following(mut self) -> Option<Script> {
        assert_eq!(self.given, self.answers.len(), "a repeated transition asks for its inputs again");
        while let Some(last) = self.answers.last_mut() {
            last.chosen += 1;
            if last.chosen < last.values.len() {
                self.given = 0;
                return Some(self);
            }
            self.answers.pop();
        }
        None
    }
}

/// The values to try, and whether they are all there are.
pub fn values_of(request: &InputRequest<'_>) -> (Vec<u128>, bool) {
    let mask = if request.bits >= 128 { u128::MAX } else { (1 << request.bits) - 1 };
    let greatest = request.bound.map_or(mask, |bound| mask.min(bound.saturating_sub(1)));
    if greatest < MOST_VALUES {
        return ((0..=greatest).collect(), true);
    }
    let sign = greatest / 2 + 1;
    let mut values = vec![0, 1, 2, sign - 1, sign, greatest - 1, greatest];
    values.dedup();
    (values, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(bits: u32, bound: Option<u128>) -> InputRequest<'static> {
        InputRequest { bits, bound, what: "" }
    }

    #[test]
    fn small_domains_are_tried_whole() {
        assert_eq!(values_of(&request(1, None)), (vec![0, 1], true));
        assert_eq!(values_of(&request(3, None)).0.len(), 8);
        assert_eq!(values_of(&request(32, Some(3))), (vec![0, 1, 2], true));
        let (values, is_all) = values_of(&request(32, None));
        assert!(!is_all && values.contains(&0) && values.contains(&0x7fff_ffff) && values.contains(&0xffff_ffff));
    }

    #[test]
    fn every_combination_comes_once() {
        let mut seen = Vec::new();
        let mut script = Some(Script::default());
        while let Some(mut current) = script {
            // The second question is asked only after a 1.
            let first = current.input(&request(1, None));
            let second = if first == 1 { Some(current.input(&request(8, Some(3)))) } else { None };
            seen.push((first, second));
            script = current.following();
        }
        assert_eq!(seen, [(0, None), (1, Some(0)), (1, Some(1)), (1, Some(2))]);
    }
}
