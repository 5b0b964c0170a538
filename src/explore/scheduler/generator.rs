//! A random number generator whose numbers are the same on every machine and in every version (SplitMix64: Steele, Lea, Flood 2014).

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generator {
    state: u64,
}

impl Generator {
    pub fn new(seed: u64) -> Generator {
        Generator { state: seed }
    }

    pub fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The high word of the product: as even as 64 bits allow.
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64
    }

    pub fn wide(&mut self) -> u128 {
        u128::from(self.word()) << 64 | u128::from(self.word())
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Generator;

    #[test]
    fn the_numbers_are_those_of_the_paper() {
        let mut generator = Generator::new(1_234_567);
        assert_eq!(generator.word(), 6_457_827_717_110_365_317);
        assert_eq!(generator.word(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn every_value_below_the_bound_comes_and_none_beyond() {
        let mut generator = Generator::new(7);
        let mut seen = [0; 6];
        (0..6000).for_each(|_| seen[generator.below(6) as usize] += 1);
        assert!(seen.iter().all(|count| (800..1200).contains(count)), "{seen:?}");
    }
}
