//! `printf` in its formats: flags, widths, precisions, lengths, `*`; its return value enters the checksum.

use super::builder::Builder;

/// A directive's flags, width and precision in front of `conversion`.
fn directive(builder: &mut Builder, flags: &[&str], precisions: &[&str], conversion: &str) -> String {
    let random = &mut builder.random;
    let flag = random.pick(flags);
    let width = if random.chance(60) { random.between(1, 18).to_string() } else { String::new() };
    // C ignores the flag 0 beside a precision for integers and compilers warn: the two are kept apart.
    let integer = !conversion.ends_with(['f', 'e', 'g', 'E', 'G', 'F']);
    let precision = if integer && flag.contains('0') { "" } else { random.pick(precisions) };
    format!("%{flag}{width}{precision}{conversion}")
}

fn argument(builder: &mut Builder) -> (String, String) {
    let signed: &[&str] = &["", "-", "+", " ", "0", "-+", "+0"];
    let unsigned: &[&str] = &["", "-", "0"];
    let alternate: &[&str] = &["", "-", "0", "#", "#0", "-#"];
    let floating: &[&str] = &["", "-", "+", " ", "0", "-+", "+0", "#"];
    let digits: &[&str] = &["", "", ".3", ".0", ".12"];
    match builder.random.below(14) {
        0 => (directive(builder, signed, digits, "d"), "(int)x".to_string()),
        1 => (directive(builder, unsigned, digits, "u"), "x".to_string()),
        2 => (directive(builder, alternate, digits, "x"), "x >> (y & 31)".to_string()),
        3 => (directive(builder, alternate, digits, "X"), "x".to_string()),
        4 => (directive(builder, alternate, digits, "o"), "x & 0777".to_string()),
        5 => (directive(builder, signed, digits, "lld"), "(long long)y".to_string()),
        6 => (directive(builder, unsigned, digits, "llu"), "(unsigned long long)y".to_string()),
        7 => (directive(builder, alternate, digits, "llx"), "(unsigned long long)y".to_string()),
        8 => {
            let lengths = [("hd", "(short)y"), ("hhd", "(signed char)y"), ("ld", "(long)y"), ("td", "(ptrdiff_t)(x >> 2)")];
            let (length, value) = *builder.random.pick(&lengths);
            (directive(builder, signed, &[""], length), value.to_string())
        }
        9 => (directive(builder, &["", "-"], &[""], "c"), "(int)('a' + x % 26)".to_string()),
        10 => {
            let text = builder.choose(&["\"word\"", "\"\"", "\"a rather long text\"", "names[x % 3]"]);
            (directive(builder, &["", "-"], &["", ".2", ".0", ".30"], "s"), text)
        }
        11 => {
            builder.cover("format-floating");
            let conversion = builder.choose(&["f", "F"]);
            let precision: &[&str] = &["", ".2", ".0", ".1", ".10"];
            (directive(builder, floating, precision, &conversion), floating_value(builder))
        }
        12 => {
            builder.cover("format-floating");
            let conversion = builder.choose(&["e", "E"]);
            let precision: &[&str] = &["", ".2", ".0", ".12"];
            (directive(builder, floating, precision, &conversion), floating_value(builder))
        }
        _ => {
            builder.cover("format-floating");
            let conversion = builder.choose(&["g", "G"]);
            let precision: &[&str] = &["", ".3", ".0", ".17"];
            (directive(builder, floating, precision, &conversion), floating_value(builder))
        }
    }
}

fn floating_value(builder: &mut Builder) -> String {
    builder.choose(&["r", "-r", "r * 1e20", "r / 3.0", "r * 1e-9", "0.0", "r * 1e-300", "0.5", "2.5", "1e15", "123456789.0"])
}

pub fn section(builder: &mut Builder) {
    builder.cover("formats");
    let mut calls = String::new();
    for _ in 0..builder.random.between(4, 8) {
        let (mut format, mut arguments) = (String::new(), String::new());
        for _ in 0..builder.random.between(1, 4) {
            let (directive, value) = argument(builder);
            format.push_str(&format!("{directive}|"));
            arguments.push_str(&format!(", {value}"));
        }
        calls.push_str(&format!("        written += printf(\"{format}\\n\"{arguments});\n"));
    }
    let values = [
        ("calls", calls),
        ("rounds", builder.number(1, 3)),
        ("width", builder.number(-12, 12)),
        ("precision", builder.number(-1, 6)),
    ];
    builder.section(
        "format",
        r#"
@static uint64_t @self(void) {
    static const char *const names[] = {"one", "twenty-two", "x"};
    int written = 0;
    for (int round = 0; round < @rounds; round++) {
        uint32_t x = (uint32_t)take();
        uint64_t y = take();
        double r = (double)(int32_t)(y >> 20) / 1024.0;
@calls        written += printf("%*d|%-*s|%.*f|%%\n", @width, (int)(x & 1023), 8, names[x % 3], @precision, r);
    }
    fputs("fputs ", stdout);
    fputc('c', stdout);
    fprintf(stdout, " %u\n", (unsigned)written);
    return (uint64_t)written;
}
"#,
        &values,
    );
}
