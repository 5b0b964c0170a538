//! Floating point: `float`, `double`, a little `long double`, conversions to and from integers, comparisons.
//!
//! Only operations that IEEE 754 defines to the last bit are used. Every expression carries a bound of its magnitude:
//! nothing overflows, no NaN arises, no conversion to an integer leaves its range. Divisors are at least one.

use super::builder::Builder;
use super::random::Random;

struct Value {
    text: String,
    /// invariant: the absolute value is at most this
    bound: f64,
}

fn leaf(random: &mut Random, suffix: &str) -> Value {
    if random.chance(25) {
        let constant = random.between(-4000, 4000) as f64 / 64.0;
        return Value { text: format!("({constant:?}{suffix})"), bound: constant.abs() };
    }
    let name = random.pick(&["x", "y", "z"]);
    Value { text: name.to_string(), bound: 1000.0 }
}

fn expression(random: &mut Random, depth: u32, suffix: &str) -> Value {
    if depth == 0 {
        return leaf(random, suffix);
    }
    let left = expression(random, depth - 1, suffix);
    let right = expression(random, depth - 1, suffix);
    let (a, b) = (&left.text, &right.text);
    let most = left.bound.max(right.bound);
    match random.below(11) {
        0 | 1 => Value { text: format!("({a} + {b})"), bound: left.bound + right.bound + 1.0 },
        2 => Value { text: format!("({a} - {b})"), bound: left.bound + right.bound + 1.0 },
        3 | 4 => Value { text: format!("({a} * {b})"), bound: left.bound * right.bound + 1.0 },
        5 | 6 => Value { text: format!("({a} / (1.0{suffix} + {b} * {b}))"), bound: left.bound },
        7 => Value { text: format!("({a} < {b} ? {b} : -{a})"), bound: most },
        8 => {
            // The i386 convention returns sqrtf's result with excess precision; the double root of a float has none.
            let rounding = if suffix == "f" { "(float)" } else { "" };
            Value { text: format!("({rounding}sqrt(fabs{suffix}({a})))"), bound: left.bound + 1.0 }
        }
        9 => {
            let function = random.pick(&["floor", "ceil", "trunc", "fabs"]);
            Value { text: format!("{function}{suffix}({a})"), bound: left.bound + 1.0 }
        }
        // The sum removes the sign of a zero, which these functions leave open.
        _ => {
            let function = random.pick(&["fmin", "fmax"]);
            Value { text: format!("({function}{suffix}({a}, {b}) + 0.0{suffix})"), bound: most }
        }
    }
}

pub fn section(builder: &mut Builder) {
    if builder.random.chance(25) {
        return long_doubles(builder);
    }
    builder.cover("float-int-conversion");
    let single = builder.random.chance(40);
    builder.cover(if single { "float" } else { "double" });
    let (kind, suffix) = if single { ("float", "f") } else { ("double", "") };
    let mut statements = String::new();
    for index in 0..builder.random.between(4, 7) {
        // Three levels of products keep the bound below 1000⁸, far inside the range of float.
        let value = expression(&mut builder.random, 3, suffix);
        let name = builder.choose(&["x", "y", "z"]);
        let line = if value.bound < 1e9 && builder.random.chance(60) {
            let target = builder.choose(&["int32_t", "int64_t"]);
            format!("show(\"whole\", (uint64_t)({target}){});", value.text)
        } else {
            format!("show_double(\"{name}@{index}\", (double){});", value.text)
        };
        statements.push_str(&format!("        {line}\n"));
        let next = expression(&mut builder.random, 2, suffix);
        statements.push_str(&format!("        {name} = @self_fold({});\n", next.text));
    }
    let values = [
        ("kind", kind.to_string()),
        ("suffix", suffix.to_string()),
        ("statements", statements),
        ("rounds", builder.number(1, 4)),
        ("scale", builder.choose(&["0.001", "3.0", "0.333", "1e5"])),
    ];
    builder.section(
        "floats",
        r#"
@static @kind @self_fold(@kind value) {
    while (value > 999.0@suffix || value < -999.0@suffix) value /= 1024.0@suffix;
    return value;
}
@static @kind @self_horner(const @kind *factors, int count, @kind at) {
    @kind sum = 0;
    while (count-- > 0) sum = sum * at + factors[count];
    return sum;
}
@static uint64_t @self(void) {
    static const @kind factors[] = {1, -0.5@suffix, 0.25@suffix, 3, -1.125@suffix};
    @kind x = (@kind)(int32_t)(take() % 2000) / 2 - 500, y = (@kind)(take() >> 55), z = (@kind)((double)(take() >> 40) * 1e-6);
    uint64_t count = 0;
    for (int round = 0; round < @rounds; round++) {
@statements        show_double("horner", (double)@self_horner(factors, 5, x / 1000));
        count += (uint64_t)((x < y) + 2 * (y <= z) + 4 * (x == z) + 8 * (x != y) + 16 * (z > x) + 32 * !(z >= y) + 64 * !x);
        uint64_t whole = take();
        show_double("unsigned", (double)(@kind)whole);
        show_double("signed", (double)(@kind)(int64_t)whole + (double)(uint32_t)whole);
        show("narrow", (uint8_t)(x + 1000.0@suffix > 255 ? 255 : x + 1000.0@suffix));
        show("back", (uint64_t)((@kind)(whole >> 1) * 0.5@suffix));
        x += (@kind)1 / (round + 3);
        y = @self_fold((@kind)((float)y * @scale));
        volatile @kind root = sqrt@suffix(fabs@suffix(z));
        show_double("root", (double)root);
        _Bool truth = z;
        count = count * 2 + truth;
    }
    show_double("rounded", (double)(float)(1.0 / 3.0 * (double)x));
    return count;
}
"#,
        &values,
    );
}

fn long_doubles(builder: &mut Builder) {
    builder.cover("long-double");
    let values = [
        ("first", builder.choose(&["+", "-", "*"])),
        ("divisor", builder.choose(&["3.0L", "7.5L", "0.1L", "1024.0L"])),
        ("rounds", builder.number(2, 5)),
        ("width", builder.number(1, 25)),
        ("precision", builder.number(0, 15)),
    ];
    builder.section(
        "longdouble",
        r#"
static const long double @self_table[3] = {1.0L, -2.5L, 0x1.8p-3L};
typedef struct { char tag; long double value; int32_t index; } @self_cell;
@static long double @self_step(long double value, int index) { return value / @divisor + @self_table[index % 3]; }
@static @self_cell @self_make(int index, long double value) { return (@self_cell){'c', value * 0.5L, index}; }
@static uint64_t @self(void) {
    long double sum = (long double)(int64_t)take();
    uint64_t hash = 0;
    for (int round = 0; round < @rounds; round++) {
        long double other = (long double)(take() >> 30) / 8.0L;
        sum = @self_step(sum @first (other / 1e6L), round);
        show_double("sum", (double)sum);
        @self_cell cell = @self_make(round, sum);
        show_double("cell", (double)(cell.value * cell.index));
        if (sum > 1e12L || sum < -1e12L) sum /= 1e9L;
        hash = hash * 3 + (uint64_t)(int64_t)sum + (uint64_t)(sum < other) + (uint64_t)(float)(other > 1e9L ? 1.0L : other);
        printf("%*.*Lf %Lg\n", @width, @precision, sum, cell.value);
    }
    return hash;
}
"#,
        &values,
    );
}
