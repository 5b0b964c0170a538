//! Random integer expressions that are free of undefined behaviour, by construction.
//!
//! Each expression carries its C type and an interval that holds its value. C's promotions and usual arithmetic
//! conversions are followed, so types may be mixed at will; a signed operation is written plainly where the interval
//! shows that it cannot overflow, and through the unsigned type of its width where it could. Divisors are positive or
//! constants below -1, shift counts lie below the width. Conversions to a narrower signed type wrap, as gcc and clang
//! define. No expression has a side effect, so the order of evaluation is never visible.

use super::kind::Kind;
use super::random::Random;

#[derive(Clone, Debug)]
pub struct Expression {
    pub text: String,
    pub kind: Kind,
    low: i128,
    high: i128,
}

impl Expression {
    /// A value of which no more is known than its type.
    fn any(text: String, kind: Kind) -> Self {
        Self { text, kind, low: kind.low(), high: kind.high() }
    }

    fn known(text: String, kind: Kind, low: i128, high: i128) -> Self {
        assert!(kind.holds(low, high), "{text}: {low}..={high} is not within {}", kind.name());
        Self { text, kind, low, high }
    }

    fn truth(text: String) -> Self {
        Self::known(text, Kind::I32, 0, 1)
    }

    /// The interval after a conversion to `kind`.
    fn interval_as(&self, kind: Kind) -> (i128, i128) {
        if kind == Kind::BOOL {
            (0, 1)
        } else if kind.holds(self.low, self.high) {
            (self.low, self.high)
        } else {
            (kind.low(), kind.high())
        }
    }

    fn cast(&self, kind: Kind) -> Self {
        let (low, high) = self.interval_as(kind);
        Self::known(format!("({}){}", kind.name(), self.text), kind, low, high)
    }
}

/// The variables that expressions may read.
pub struct Scope {
    variables: Vec<(String, Kind)>,
}

impl Scope {
    pub fn new(variables: &[(&str, Kind)]) -> Self {
        let owned = variables.iter().map(|(name, kind)| (name.to_string(), *kind));
        Self { variables: owned.collect() }
    }

    /// The text of an expression of any integer type.
    pub fn text(&self, random: &mut Random, depth: u32) -> String {
        self.expression(random, depth).text
    }

    pub fn expression(&self, random: &mut Random, depth: u32) -> Expression {
        if depth == 0 || random.chance(8) {
            return self.leaf(random);
        }
        match random.below(16) {
            0..=4 => self.sum_or_product(random, depth),
            5 | 6 => self.bitwise(random, depth),
            7 => self.shift_left(random, depth),
            8 => self.shift_right(random, depth),
            9 | 10 => self.quotient(random, depth),
            11 => self.comparison(random, depth),
            12 => self.logical(random, depth),
            13 => self.unary(random, depth),
            14 => self.ternary(random, depth),
            _ => {
                let kind = *random.pick(&Kind::ALL);
                self.expression(random, depth - 1).cast(kind)
            }
        }
    }

    fn leaf(&self, random: &mut Random) -> Expression {
        if random.chance(25) {
            return literal(random);
        }
        let (name, kind) = random.pick(&self.variables);
        let variable = Expression::any(name.clone(), *kind);
        match random.below(6) {
            // Small values let signed arithmetic stay plain.
            0 => {
                let divisor = random.between(2, 1000) as i128;
                remainder(&variable, &Expression::known(divisor.to_string(), Kind::I32, divisor, divisor))
            }
            1 => {
                let mask = (1 << random.between(1, 12)) - 1;
                let text = format!("({name} & {mask})");
                Expression::known(text, kind.common(Kind::I32), 0, mask)
            }
            _ => variable,
        }
    }

    fn sum_or_product(&self, random: &mut Random, depth: u32) -> Expression {
        let left = self.expression(random, depth - 1);
        let right = self.expression(random, depth - 1);
        let operator = *random.pick(&["+", "-", "*"]);
        let kind = left.kind.common(right.kind);
        let ((a, b), (c, d)) = (left.interval_as(kind), right.interval_as(kind));
        let bounds = match operator {
            "+" => Some((a + c, b + d)),
            "-" => Some((a - d, b - c)),
            _ => [(a, c), (a, d), (b, c), (b, d)]
                .iter()
                .map(|(x, y)| x.checked_mul(*y))
                .collect::<Option<Vec<i128>>>()
                .map(|all| (*all.iter().min().expect("four"), *all.iter().max().expect("four"))),
        };
        let plain = format!("({} {operator} {})", left.text, right.text);
        match bounds {
            Some((low, high)) if kind.holds(low, high) => Expression::known(plain, kind, low, high),
            _ if !kind.signed => Expression::any(plain, kind),
            _ => {
                let unsigned = kind.unsigned().name();
                let text = format!("(({})(({unsigned}){} {operator} ({unsigned}){}))", kind.name(), left.text, right.text);
                Expression::any(text, kind)
            }
        }
    }

    fn bitwise(&self, random: &mut Random, depth: u32) -> Expression {
        let left = self.expression(random, depth - 1);
        let right = self.expression(random, depth - 1);
        let operator = *random.pick(&["&", "|", "^"]);
        let kind = left.kind.common(right.kind);
        let ((a, b), (c, d)) = (left.interval_as(kind), right.interval_as(kind));
        let text = format!("({} {operator} {})", left.text, right.text);
        // The narrowest two's complement range that holds both operands also holds the result.
        let magnitude = [a, b, c, d].iter().map(|x| if *x < 0 { !x } else { *x }).max().expect("four");
        let high = (1i128 << (128 - magnitude.leading_zeros())) - 1;
        let low = if a < 0 || c < 0 { -high - 1 } else { 0 };
        Expression::known(text, kind, low, high)
    }

    fn shift_left(&self, random: &mut Random, depth: u32) -> Expression {
        let value = self.expression(random, depth - 1);
        let kind = value.kind.promoted();
        let (count, most) = self.shift_count(random, kind.bits, depth);
        if kind.signed && value.low >= 0 && kind.holds(0, value.high << most) {
            return Expression::known(format!("({} << {count})", value.text), kind, 0, value.high << most);
        }
        let unsigned = kind.unsigned();
        Expression::any(format!("(({}){} << {count})", unsigned.name(), value.text), unsigned)
    }

    fn shift_right(&self, random: &mut Random, depth: u32) -> Expression {
        let value = self.expression(random, depth - 1);
        let kind = value.kind.promoted();
        let (count, _) = self.shift_count(random, kind.bits, depth);
        let text = format!("({} >> {count})", value.text);
        Expression::known(text, kind, value.low.min(0), value.high.max(0))
    }

    /// A shift count below `bits`, and the largest value that it takes.
    fn shift_count(&self, random: &mut Random, bits: u32, depth: u32) -> (String, u32) {
        if random.chance(60) {
            let count = random.below(bits.into()) as u32;
            return (count.to_string(), count);
        }
        let mask = *random.pick(&[3, 7, 15, bits - 1]);
        let count = self.expression(random, depth - 1);
        (format!("({} & {mask})", count.text), mask)
    }

    fn quotient(&self, random: &mut Random, depth: u32) -> Expression {
        let dividend = self.expression(random, depth - 1);
        let divisor = if dividend.kind.promoted().signed && random.chance(25) {
            let value = random.between(-300, -2) as i128;
            Expression::known(format!("({value})"), Kind::I32, value, value)
        } else if random.chance(40) {
            let value = random.between(1, 100_000) as i128;
            Expression::known(value.to_string(), Kind::I32, value, value)
        } else {
            let mask = (1 << random.between(1, 15)) - 1;
            let inner = self.expression(random, depth - 1);
            let kind = inner.kind.common(Kind::I32);
            Expression::known(format!("(({} & {mask}) + 1)", inner.text), kind, 1, mask + 1)
        };
        if random.chance(40) {
            return remainder(&dividend, &divisor);
        }
        let kind = dividend.kind.common(divisor.kind);
        let (low, high) = dividend.interval_as(kind);
        let (least, _) = divisor.interval_as(kind);
        let text = format!("({} / {})", dividend.text, divisor.text);
        if least < 0 {
            let most = low.abs().max(high.abs()) / 2;
            return Expression::known(text, kind, -most, most);
        }
        Expression::known(text, kind, low.min(0), high.max(0))
    }

    fn comparison(&self, random: &mut Random, depth: u32) -> Expression {
        let left = self.expression(random, depth - 1);
        let right = self.expression(random, depth - 1);
        let operator = random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        Expression::truth(format!("({} {operator} {})", left.text, right.text))
    }

    fn logical(&self, random: &mut Random, depth: u32) -> Expression {
        let left = self.expression(random, depth - 1);
        let right = self.expression(random, depth - 1);
        // Comparisons with zero keep compilers from suspecting a mistyped `&` or `|`.
        let operator = random.pick(&["&&", "||"]);
        Expression::truth(format!("({} != 0 {operator} {} != 0)", left.text, right.text))
    }

    fn unary(&self, random: &mut Random, depth: u32) -> Expression {
        let value = self.expression(random, depth - 1);
        let kind = value.kind.promoted();
        match random.below(3) {
            0 => Expression::truth(format!("(!{})", value.text)),
            1 => {
                let text = format!("(~{})", value.text);
                if kind.signed { Expression::known(text, kind, !value.high, !value.low) } else { Expression::any(text, kind) }
            }
            _ if kind.signed && value.low > kind.low() => {
                Expression::known(format!("(-{})", value.text), kind, -value.high, -value.low)
            }
            _ => {
                let unsigned = kind.unsigned();
                Expression::any(format!("(-({}){})", unsigned.name(), value.text), unsigned)
            }
        }
    }

    fn ternary(&self, random: &mut Random, depth: u32) -> Expression {
        let condition = self.expression(random, depth - 1);
        let left = self.expression(random, depth - 1);
        let right = self.expression(random, depth - 1);
        let kind = left.kind.common(right.kind);
        let ((a, b), (c, d)) = (left.interval_as(kind), right.interval_as(kind));
        let text = format!("({} ? {} : {})", condition.text, left.text, right.text);
        Expression::known(text, kind, a.min(c), b.max(d))
    }
}

/// `dividend % divisor`, for a divisor that is positive or a constant below -1.
fn remainder(dividend: &Expression, divisor: &Expression) -> Expression {
    let kind = dividend.kind.common(divisor.kind);
    let (low, high) = dividend.interval_as(kind);
    let (least, most) = divisor.interval_as(kind);
    let bound = least.abs().max(most.abs()) - 1;
    let text = format!("({} % {})", dividend.text, divisor.text);
    Expression::known(text, kind, if low < 0 { -bound } else { 0 }, if high > 0 { bound } else { 0 })
}

fn literal(random: &mut Random) -> Expression {
    let constant = |text: String, kind: Kind, value: i128| Expression::known(text, kind, value, value);
    match random.below(6) {
        0 => {
            let value = random.next() >> random.below(64);
            constant(format!("UINT64_C({value:#x})"), Kind::U64, value.into())
        }
        1 => {
            let value = (random.next() >> 1) as i64 >> random.below(62);
            constant(format!("(-INT64_C({value}))"), Kind::I64, -i128::from(value))
        }
        2 => {
            let value = (random.next() as u32) >> random.below(32);
            constant(format!("{value}u"), Kind::U32, value.into())
        }
        3 => {
            let value = b'a' + random.below(26) as u8;
            constant(format!("'{}'", value as char), Kind::I32, value.into())
        }
        4 => constant("INT32_MAX".to_string(), Kind::I32, i32::MAX.into()),
        _ => {
            let value = random.between(-1000, 1000);
            constant(format!("({value})"), Kind::I32, value.into())
        }
    }
}
