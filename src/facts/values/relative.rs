//! Relative locks: is the lock that is held a function of the bytes that are accessed?
//!
//! # Definition   An access touches bytes x, x+1, … of an object, counted from its start: x = r + m·n + k + Σ cⱼ·tⱼ, where the base pointer lies at
//!                r + m·n (points-to: the offset r, m = 0, or the class of r modulo m). Its *digits* are m·n and the cⱼ·tⱼ, by descending factor.
//!                A digit c·t is *settled* when for some number K the bytes lie in one cell of size c: with lo, hi the least and greatest
//!                sum of all lower digits and k′ what is left of the constant, k′ − c·K + lo ≥ 0 and k′ − c·K + hi + size ≤ c. Then
//!                u = t + K is its *coordinate*, and k′ − c·K is left for the next. A shape is, for each object: the factors of
//!                the coordinates that the lock depends on, and the lock as a term of coordinates and the object's address.
//! # Theorem      Two accesses that touch a common byte and have the same shape for its object hold the same lock.
//!                Let x be the byte. By the two inequalities x − c₁·u₁ ∈ [0, c₁), so u₁ = ⌊x/c₁⌋; then x − c₁·u₁ − c₂·u₂ ∈ [0, c₂) gives u₂, and so on: the
//!                coordinates depend on x and the factors alone, and are equal for both accesses. The byte belongs to one
//!                object of the run, so its address is equal, too. Each lock is the same function of equal arguments. What stands in
//!                for the leaves of the lock is determined: t = u − K; a base at m = 0 is object + r, otherwise object + r + m·(u − K); from an
//!                extended value its narrow one, from x + c and odd·x the x.
//!                An access whose bytes are fixed agrees with a shape if its lock is the shape's, with the coordinates of those bytes put in.
//! # Examples     `p->x` under `p->m`; `arr[j].x` under `arr[j].m`; `data[i]` under `locks[i]` and `locks[i % 4]`; any byte of an object that is
//!                allocated by itself under a lock in it. Not `bits[i/8]` under `locks[i]`: the coordinate is i/8, and i is no function of it.
//! # Deviations   1. Addresses do not wrap, as the compiler was promised (`build`).  2. A digit below the first needs bounds that its
//!                term shows (a mask, a remainder, a narrow type).  3. An address that may lie in unknown memory has no shape.

use smallvec::SmallVec;

use super::pure::{Pure, signed, wrap};
use super::term::{LeafKind, Parts, Table, Term, TermId};
use crate::facts::points_to::{AbstractObjectId, AbstractObjectKind, Offset, PointsTo};
use crate::program::{BinaryOp, FunctionId, Operand, RegisterId};

/// How a lock depends on what is accessed, for each object that may be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Ascending by object; `None` where the lock is no function of the bytes.
    forms: SmallVec<[(AbstractObjectId, Option<Form>); 1]>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Form {
    /// The bytes of an access that always touches the same ones: the first, and how many.
    position: Option<(u64, u64)>,
    /// Of the coordinates that the lock depends on, and of those above them.
    factors: SmallVec<[u64; 2]>,
    lock: TermId,
}

/// Whether two accesses, one of each shape, hold the same lock if they touch a common byte.
pub(super) fn agree(table: &mut Table, left: &Shape, right: &Shape) -> bool {
    let mut common = 0;
    for (object, form) in &left.forms {
        if let Ok(at) = right.forms.binary_search_by_key(object, |(object, _)| *object) {
            common += 1;
            let (Some(one), Some(other)) = (form, &right.forms[at].1) else { return false };
            let is_same = one.factors == other.factors && one.lock == other.lock;
            if !is_same && !holds_at(table, one, other) && !holds_at(table, other, one) {
                return false;
            }
        }
    }
    common > 0
}

/// Whether a lock that depends on the cell is, at the bytes of a fixed position, the lock that is held there: `a[5].x` under `a[5].m`, `p->x` under `p->m`.
fn holds_at(table: &mut Table, fixed: &Form, other: &Form) -> bool {
    let Some((first, size)) = fixed.position else { return false };
    let (mut low, mut high) = (i128::from(first), i128::from(first) + i128::from(size.max(1)) - 1);
    let mut coordinates: SmallVec<[u64; 2]> = SmallVec::new();
    for factor in other.factors.iter().map(|factor| i128::from(*factor)) {
        let cell = low.div_euclid(factor);
        if high.div_euclid(factor) != cell {
            return false;
        }
        (low, high) = (low - cell * factor, high - cell * factor);
        coordinates.push(cell as u64);
    }
    let bits = table.pointer_bits;
    let mut number = |table: &mut Table, node: TermId| match table.get(node) {
        Term::Coordinate(number) => coordinates.get(usize::from(*number)).copied().map(|cell| table.integer(bits, cell)),
        _ => None,
    };
    table.rewrite(other.lock, &mut number) == Some(fixed.lock)
}

/// Where a base pointer lies in one object: `residue + n·stride`, the one offset `residue` when `stride` is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stand {
    residue: u64,
    stride: u64,
}

pub(super) fn shape(
    table: &mut Table,
    points_to: &PointsTo,
    function: FunctionId,
    address: TermId,
    size: Option<u64>,
    lock: TermId,
) -> Option<Shape> {
    let (constant, parts) = table.as_sum(address);
    let base = base_of(table, &parts)?;
    let stands = stands(table, points_to, function, base)?;
    let digits: Parts = parts.iter().copied().filter(|(part, _)| *part != base).collect();
    let constant = signed(table.pointer_bits, constant);
    let form = |(object, stand): (AbstractObjectId, Stand)| (object, form(table, base, stand, constant, &digits, size, lock));
    let forms: SmallVec<[(AbstractObjectId, Option<Form>); 1]> = stands.into_iter().map(form).collect();
    forms.iter().any(|(_, form)| form.is_some()).then_some(Shape { forms })
}

/// Bytes of a thread's part of an object (`own`) that is divided into cells of `width` bytes: they lie in one cell, and the part that begins `first` bytes behind a cell's begin begins so many
/// cells before theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InPart {
    pub first: u64,
    pub width: u64,
    pub cells: u64,
}

/// That of the address where a part begins, for bytes of it: the object is divided into cells, and they lie in one.
pub(super) fn shape_in_part(table: &mut Table, object: AbstractObjectId, part: InPart) -> Option<Shape> {
    let bits = table.pointer_bits;
    let (start, cell) = (table.intern(Term::Object), table.intern(Term::Coordinate(0)));
    let first_cell = table.plus(cell, i64::try_from(part.cells).ok()?.checked_neg()?);
    let lock = table.sum(bits, part.first, &[(start, 1), (first_cell, part.width)]);
    let form = Form { position: None, factors: SmallVec::from_slice(&[part.width]), lock };
    Some(Shape { forms: SmallVec::from_iter([(object, Some(form))]) })
}

/// The one part that is an address: all that is added to it stays in its object.
fn base_of(table: &Table, parts: &Parts) -> Option<TermId> {
    let is_address = |part: TermId| {
        matches!(table.get(part), Term::Global(_) | Term::Function(_) | Term::Leaf { kind: LeafKind::Pointer, .. })
    };
    // An address that is multiplied is a number in a pointer's type: `slot[(long)argument]`.
    let mut addresses = parts.iter().filter(|(part, factor)| *factor == 1 && is_address(*part));
    let (base, _) = addresses.next()?;
    addresses.next().is_none().then_some(*base)
}

/// The register that an address is counted from.
pub(super) fn base_register(table: &Table, address: TermId) -> Option<RegisterId> {
    let (_, parts) = table.as_sum(address);
    match table.get(base_of(table, &parts)?) {
        Term::Leaf { register, .. } => Some(*register),
        _ => None,
    }
}

/// Where the base may lie, by object; `None` when that may be anywhere.
fn stands(table: &Table, points_to: &PointsTo, function: FunctionId, base: TermId) -> Option<Vec<(AbstractObjectId, Stand)>> {
    let register = match table.get(base) {
        Term::Global(global) => {
            let object = points_to.object_of_kind(&AbstractObjectKind::Global(*global))?;
            return Some(vec![(object, Stand { residue: 0, stride: 0 })]);
        }
        Term::Leaf { register, .. } => *register,
        _ => return None,
    };
    let mut found: Vec<(AbstractObjectId, Stand)> = Vec::new();
    for location in points_to.pointees(function, Operand::Register(register)) {
        let object = points_to.object(location.object);
        if matches!(object.kind, AbstractObjectKind::Unknown | AbstractObjectKind::Residue) {
            return None;
        }
        if object.is_code() {
            continue;
        }
        let stand = match location.offset {
            Offset::At(at) => Stand { residue: at, stride: 0 },
            Offset::Class { residue, stride } => Stand { residue, stride },
            Offset::Any => Stand { residue: 0, stride: 1 },
        };
        match found.binary_search_by_key(&location.object, |(object, _)| *object) {
            Ok(at) => found[at].1 = found[at].1.merged(stand),
            Err(at) => found.insert(at, (location.object, stand)),
        }
    }
    (!found.is_empty()).then_some(found)
}

impl Stand {
    /// The smallest class that contains both.
    fn merged(self, other: Stand) -> Stand {
        let apart = self.residue.abs_diff(other.residue);
        let stride = greatest_common_divisor(greatest_common_divisor(self.stride, other.stride), apart);
        Stand { residue: if stride == 0 { self.residue } else { self.residue % stride }, stride }
    }
}

pub fn greatest_common_divisor(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

/// A digit of an access's position: the term is `None` for the number of the base's element.
struct Digit {
    factor: i128,
    term: Option<TermId>,
}

fn form(
    table: &mut Table,
    base: TermId,
    stand: Stand,
    constant: i64,
    parts: &Parts,
    size: Option<u64>,
    lock: TermId,
) -> Option<Form> {
    let bits = table.pointer_bits;
    let mut digits: Vec<Digit> =
        parts.iter().map(|(part, factor)| Digit { factor: signed(bits, *factor).into(), term: Some(*part) }).collect();
    if stand.stride > 0 {
        digits.push(Digit { factor: stand.stride.into(), term: None });
    }
    // What the accessed byte determines.
    let mut known: Vec<(TermId, TermId)> = Vec::new();
    let object = table.intern(Term::Object);
    if stand.stride == 0 {
        let at = table.plus(object, stand.residue as i64);
        known.push((base, at));
    }
    digits.sort_by_key(|digit| std::cmp::Reverse(digit.factor));
    let mut left = i128::from(stand.residue) + i128::from(constant);
    let mut factors: SmallVec<[u64; 2]> = SmallVec::new();
    for (position, digit) in digits.iter().enumerate() {
        let Some((settled, rest)) = settle(table, digit.factor, left, &digits[position + 1..], size) else { break };
        left = rest;
        factors.push(u64::try_from(digit.factor).ok()?);
        let coordinate = table.intern(Term::Coordinate(u8::try_from(position).ok()?));
        let value = table.plus(coordinate, (settled as i64).wrapping_neg());
        match digit.term {
            Some(term) => determine(table, term, value, &mut known),
            None => {
                let at = table.sum(bits, stand.residue, &[(object, 1), (value, stand.stride)]);
                known.push((base, at));
            }
        }
    }
    let start = i128::from(stand.residue) + i128::from(constant);
    let position = u64::try_from(start).ok().filter(|_| digits.is_empty()).zip(size);
    let lock = table.rewrite(lock, &mut |_, node| known.iter().find(|(term, _)| *term == node).map(|(_, value)| *value))?;
    factors.truncate(last_coordinate(table, lock));
    Some(Form { position, factors, lock })
}

/// The number K of the definition, and what is left of the constant.
fn settle(table: &Table, factor: i128, constant: i128, lower: &[Digit], size: Option<u64>) -> Option<(i128, i128)> {
    if factor <= 0 {
        return None;
    }
    let (mut least, mut greatest) = (0i128, 0i128);
    for digit in lower {
        let (low, high) = range(table, digit.term?)?;
        let ends = [low.checked_mul(digit.factor)?, high.checked_mul(digit.factor)?];
        least += ends[0].min(ends[1]);
        greatest += ends[0].max(ends[1]);
    }
    let settled = (constant + least).div_euclid(factor);
    let rest = constant - factor * settled;
    (rest + greatest + i128::from(size?) <= factor).then_some((settled, rest))
}

/// The least and the greatest value of a term, as a signed number, when its form shows them.
fn range(table: &Table, term: TermId) -> Option<(i128, i128)> {
    let Term::Operation { operation, bits, operands } = table.get(term) else {
        return table.as_integer(term).map(|value| i128::from(signed(table.bits(term), value))).map(|value| (value, value));
    };
    let number = |position: usize| table.as_integer(operands[position]).map(i128::from);
    let half = 1i128 << (bits - 1);
    let (low, high) = match operation {
        Pure::ZeroExtend => {
            let width = table.bits(operands[0]);
            match range(table, operands[0]).filter(|(low, _)| *low >= 0) {
                Some(narrow) => narrow,
                None => (0, (1i128 << width) - 1),
            }
        }
        Pure::SignExtend => range(table, operands[0])?,
        Pure::Compare(_) => (0, 1),
        // A mask that keeps the sign bit bounds nothing.
        Pure::Binary(BinaryOp::And) => (0, number(0).into_iter().chain(number(1)).min()?),
        Pure::Binary(BinaryOp::UnsignedRemainder) => (0, number(1).filter(|divisor| *divisor > 0)? - 1),
        Pure::Binary(BinaryOp::SignedRemainder) => {
            let divisor = number(1).filter(|divisor| *divisor > 0 && *divisor < half)?;
            (1 - divisor, divisor - 1)
        }
        Pure::Binary(BinaryOp::LogicalShiftRight) => {
            let shift = number(1).filter(|shift| *shift > 0 && *shift < i128::from(*bits))?;
            (0, (1i128 << (i128::from(*bits) - shift)) - 1)
        }
        Pure::Select => {
            let (left, right) = (range(table, operands[1])?, range(table, operands[2])?);
            (left.0.min(right.0), left.1.max(right.1))
        }
        Pure::Binary(_) | Pure::Truncate | Pure::Intrinsic(_) => return None,
    };
    // A number of one bit is 0 or −1 when it is signed: compare only what fits.
    (*bits == 1 || high < half).then_some((low, high))
}

/// The term has this value: what do its parts have?
fn determine(table: &mut Table, term: TermId, value: TermId, known: &mut Vec<(TermId, TermId)>) {
    known.push((term, value));
    match table.get(term).clone() {
        Term::Operation { operation: Pure::ZeroExtend | Pure::SignExtend, operands, .. } => {
            let narrow = table.operation(Pure::Truncate, table.bits(operands[0]), SmallVec::from_slice(&[value]));
            determine(table, operands[0], narrow, known);
        }
        Term::Sum { bits, constant, parts } => {
            if let [(part, factor)] = parts.as_slice()
                && let Some(inverse) = inverse(*factor)
            {
                let negated = wrap(bits, constant.wrapping_neg().wrapping_mul(inverse));
                let value = table.sum(bits, negated, &[(value, wrap(bits, inverse))]);
                determine(table, *part, value, known);
            }
        }
        _ => {}
    }
}

/// The number that an odd one times gives 1, modulo 2⁶⁴ and so modulo every smaller power.
fn inverse(factor: u64) -> Option<u64> {
    if factor.is_multiple_of(2) {
        return None;
    }
    // Newton: each step doubles the correct bits; an odd number is its own inverse modulo 8.
    let mut inverse = factor;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(factor.wrapping_mul(inverse)));
    }
    Some(inverse)
}

/// How many coordinates there are up to the last one in the term.
fn last_coordinate(table: &Table, term: TermId) -> usize {
    match table.get(term) {
        Term::Coordinate(number) => usize::from(*number) + 1,
        Term::Sum { parts, .. } => parts.iter().map(|(part, _)| last_coordinate(table, *part)).max().unwrap_or(0),
        Term::Operation { operands, .. } => operands.iter().map(|operand| last_coordinate(table, *operand)).max().unwrap_or(0),
        _ => 0,
    }
}
