//! Tests of the library functions: on a small memory, and against the C library of the machine that runs the tests.

mod accesses;
mod against_format;
mod against_mathematics;
mod against_numbers;
mod against_scan;
mod against_strings;
mod behaviour;
mod world;

const CORNERS: [f64; 18] = [
    0.0,
    -0.0,
    1.0,
    0.5,
    1.5,
    2.5,
    9.995,
    0.1,
    1e23,
    123456.5,
    999999.5,
    99999.95,
    f64::MAX,
    f64::MIN_POSITIVE,
    5e-324,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// A small generator of numbers, so that every run tests the same.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Numbers {
        Numbers(seed)
    }

    pub fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Numbers of every magnitude, and the corners.
    pub fn integer(&mut self) -> i64 {
        let corners = [0, 1, -1, 9, 10, i64::MAX, i64::MIN, i32::MAX.into(), i32::MIN.into(), 255, -128];
        if self.below(4) == 0 { self.pick(&corners) } else { (self.next() as i64) >> self.below(64) }
    }

    pub fn double(&mut self) -> f64 {
        match self.below(6) {
            0 => self.pick(&CORNERS),
            1 => f64::from_bits(self.next()),
            2 => (self.integer() as f64) / 8.0,
            3 => (self.below(2_000_000) as f64 - 1_000_000.0) / 1000.0,
            4 => (self.next() as f64 / u64::MAX as f64) * 10f64.powi(self.below(40) as i32 - 20),
            _ => self.below(1000) as f64,
        }
    }
}
