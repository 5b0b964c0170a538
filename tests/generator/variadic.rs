//! Variadic functions: integers and doubles beyond the registers, pointers, small structs, `va_copy`, a `va_list` handed on.

use super::builder::Builder;

/// One argument: its letter in the description that the callee reads, and its text.
fn argument(builder: &mut Builder, letter: char) -> String {
    let random = &mut builder.random;
    match letter {
        'i' => random.between(-100_000, 100_000).to_string(),
        'u' => format!("{}u", random.next() as u32),
        'l' => format!("INT64_C({})", random.between(i64::MIN / 2, i64::MAX)),
        'd' => format!("{}.{}", random.between(-500, 500), random.pick(&["0", "25", "5", "75"])),
        's' => (*random.pick(&["\"north\"", "\"\"", "\"a longer word\"", "text"])).to_string(),
        'p' => (*random.pick(&["&numbers[0]", "&numbers[1]", "numbers + 2"])).to_string(),
        'q' => format!("(@self_small){{{}, {}}}", random.between(0, 99), random.between(-9, 9)),
        'm' => format!("(@self_mixed){{{}.5, {}}}", random.between(0, 99), random.between(-9, 9)),
        'b' => format!("(@self_big){{{{{}, 2, 3}}, 0.25}}", random.between(0, 99)),
        'c' => format!("'{}'", (b'a' + random.below(26) as u8) as char),
        other => unreachable!("no argument is described by {other}"),
    }
}

fn call(builder: &mut Builder) -> String {
    let letters: Vec<char> = match builder.random.below(3) {
        0 => {
            builder.cover("varargs-beyond-registers");
            let count = builder.random.between(8, 14);
            let choices: &[char] = if builder.random.chance(50) { &['i', 'l', 'u'] } else { &['d', 'd', 'i'] };
            (0..count).map(|_| *builder.random.pick(choices)).collect()
        }
        1 => {
            builder.cover("varargs-structs");
            let count = builder.random.between(2, 9);
            (0..count).map(|_| *builder.random.pick(&['q', 'm', 'b', 'i', 'd', 'l'])).collect()
        }
        _ => {
            let count = builder.random.between(0, 8);
            (0..count).map(|_| *builder.random.pick(&['i', 'u', 'l', 'd', 's', 'p', 'c'])).collect()
        }
    };
    let description: String = letters.iter().collect();
    let mut text = format!("\"{description}\"");
    for letter in letters {
        text.push_str(", ");
        text.push_str(&argument(builder, letter));
    }
    text
}

pub fn section(builder: &mut Builder) {
    builder.cover("varargs");
    builder.cover("va-copy");
    let mut calls = String::new();
    for _ in 0..builder.random.between(2, 4) {
        let arguments = call(builder);
        calls.push_str(&format!("    show(\"call\", total = total * 3 + @self_read({arguments}));\n"));
    }
    let sum: Vec<String> = (0..builder.random.between(1, 12)).map(|_| builder.number(-5000, 5000)).collect();
    let values = [("calls", calls), ("count", sum.len().to_string()), ("sum", sum.join(", "))];
    builder.section(
        "variadic",
        r#"
typedef struct { int16_t x; int8_t y; } @self_small;
typedef struct { double x; int32_t y; } @self_mixed;
typedef struct { int64_t x[3]; float y; } @self_big;
@static uint64_t @self_list(const char *kinds, va_list list) {
    uint64_t hash = 7;
    for (; *kinds; kinds++) {
        switch (*kinds) {
        case 'c':
        case 'i': hash += (uint64_t)va_arg(list, int); break;
        case 'u': hash += va_arg(list, unsigned); break;
        case 'l': hash += (uint64_t)va_arg(list, int64_t); break;
        case 'd': hash += (uint64_t)(int64_t)(va_arg(list, double) * 4.0); break;
        case 's': hash += strlen(va_arg(list, const char *)); break;
        case 'p': hash += *va_arg(list, uint32_t *); break;
        case 'q': { @self_small q = va_arg(list, @self_small); hash += (uint64_t)(q.x * 3 + q.y); break; }
        case 'm': { @self_mixed m = va_arg(list, @self_mixed); hash += (uint64_t)(m.x * 2.0) + (uint64_t)m.y; break; }
        case 'b': { @self_big b = va_arg(list, @self_big); hash += (uint64_t)(b.x[0] * 5 + b.x[2]) + (b.y < 0.5f); break; }
        default: return 0;
        }
        mix(hash);
        hash *= 31;
    }
    return hash;
}
static __attribute__((noinline)) uint64_t @self_read(const char *kinds, ...) {
    va_list list, again;
    va_start(list, kinds);
    va_copy(again, list);
    uint64_t first = @self_list(kinds, list), second = @self_list(kinds, again);
    va_end(again);
    va_end(list);
    return first == second ? first : 0;
}
@static int @self_sum(double scale, int count, ...) {
    va_list list;
    int sum = 0;
    va_start(list, count);
    while (count-- > 0) sum += va_arg(list, int);
    va_end(list);
    return sum * (int)scale;
}
static __attribute__((noinline, format(printf, 3, 4))) int @self_format(char *to, size_t size, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int length = vsnprintf(to, size, format, list);
    va_end(list);
    return length;
}
@static uint64_t @self(void) {
    char text[24];
    uint32_t numbers[3] = {(uint32_t)take(), 5, (uint32_t)take()};
    uint64_t total = 0;
    int length = @self_format(text, sizeof text, "%d:%s:%.2f:%lld", (int)(numbers[0] % 1000), "vs", numbers[1] / 4.0, 1ll << 40);
    printf("formatted %s %d\n", text, length);
@calls    return total + (uint64_t)@self_sum(2.5, @count, @sum);
}
"#,
        &values,
    );
}
