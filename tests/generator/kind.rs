//! The integer types of C that generated programs compute with, their ranges, and how C converts between them.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub bits: u32,
    pub signed: bool,
}

impl Kind {
    pub const BOOL: Kind = Kind { bits: 1, signed: false };
    pub const I32: Kind = Kind { bits: 32, signed: true };
    pub const U32: Kind = Kind { bits: 32, signed: false };
    pub const I64: Kind = Kind { bits: 64, signed: true };
    pub const U64: Kind = Kind { bits: 64, signed: false };
    pub const ALL: [Kind; 9] = [
        Kind::BOOL,
        Kind { bits: 8, signed: true },
        Kind { bits: 8, signed: false },
        Kind { bits: 16, signed: true },
        Kind { bits: 16, signed: false },
        Kind::I32,
        Kind::U32,
        Kind::I64,
        Kind::U64,
    ];

    pub fn name(self) -> String {
        match (self.bits, self.signed) {
            (1, _) => "_Bool".to_string(),
            (bits, true) => format!("int{bits}_t"),
            (bits, false) => format!("uint{bits}_t"),
        }
    }

    pub fn low(self) -> i128 {
        if self.signed { -(1 << (self.bits - 1)) } else { 0 }
    }

    pub fn high(self) -> i128 {
        (1 << (self.bits - u32::from(self.signed))) - 1
    }

    pub fn holds(self, low: i128, high: i128) -> bool {
        self.low() <= low && high <= self.high()
    }

    pub fn promoted(self) -> Kind {
        if self.bits < 32 { Kind::I32 } else { self }
    }

    pub fn unsigned(self) -> Kind {
        Kind { bits: self.bits, signed: false }
    }

    /// The usual arithmetic conversions.
    pub fn common(self, other: Kind) -> Kind {
        let (left, right) = (self.promoted(), other.promoted());
        let bits = left.bits.max(right.bits);
        let signed = |kind: Kind| kind.signed || kind.bits < bits;
        Kind { bits, signed: signed(left) && signed(right) }
    }
}
