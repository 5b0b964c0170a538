//! Control flow: random nests of loops and branches, `switch` in its shapes, `goto` (also into a loop) and computed
//! `goto`. Every loop has a counter that nothing but the loop touches, so every program ends.

use super::builder::Builder;
use super::expression::Scope;
use super::kind::Kind;

pub fn section(builder: &mut Builder) {
    match builder.random.below(4) {
        0 => nested_statements(builder),
        1 => switches(builder),
        2 => gotos(builder),
        _ => computed_goto(builder),
    }
}

fn machine_scope() -> Scope {
    Scope::new(&[("a", Kind::U32), ("b", Kind::I32), ("c", Kind::U64), ("d", Kind { bits: 8, signed: true })])
}

const MACHINE_VARIABLES: &str = r#"    uint32_t a = (uint32_t)take();
    int32_t b = (int32_t)take();
    uint64_t c = take();
    int8_t d = (int8_t)take();"#;

fn nested_statements(builder: &mut Builder) {
    builder.cover("loops");
    let mut loops = 0;
    let body = block(builder, 3, 1, &mut loops, false);
    let values = [("variables", MACHINE_VARIABLES.to_string()), ("body", body)];
    builder.section(
        "nest",
        r#"
@static uint64_t @self(void) {
@variables
@body    return a ^ (uint64_t)b ^ c ^ (uint64_t)d;
}
"#,
        &values,
    );
}

fn assignment(builder: &mut Builder) -> String {
    let (name, kind) = *builder.random.pick(&[("a", "uint32_t"), ("b", "int32_t"), ("c", "uint64_t"), ("d", "int8_t")]);
    let value = machine_scope().text(&mut builder.random, 2);
    format!("{name} = ({kind}){value};")
}

fn block(builder: &mut Builder, depth: u32, indent: usize, loops: &mut u32, in_loop: bool) -> String {
    let margin = "    ".repeat(indent);
    let mut text = String::new();
    for _ in 0..builder.random.between(2, 3) {
        let condition = machine_scope().text(&mut builder.random, 2);
        let choice = if depth == 0 { builder.random.below(3) } else { builder.random.below(9) };
        match choice {
            0 => text.push_str(&format!("{margin}show(\"c\", c += a);\n")),
            1 if in_loop => {
                builder.cover("break-continue");
                let jump = builder.choose(&["break", "continue"]);
                text.push_str(&format!("{margin}if ({condition}) {jump};\n"));
            }
            1 | 2 => text.push_str(&format!("{margin}{}\n", assignment(builder))),
            3 | 4 => {
                let then = block(builder, depth - 1, indent + 1, loops, in_loop);
                let other = assignment(builder);
                text.push_str(&format!(
                    "{margin}if ({condition}) {{\n{then}{margin}}} else {{\n{margin}    {other}\n{margin}}}\n"
                ));
            }
            _ => {
                *loops += 1;
                let counter = format!("i{loops}");
                let limit = builder.random.between(2, 5);
                let inner = block(builder, depth - 1, indent + 1, loops, true);
                match builder.random.below(3) {
                    0 => text.push_str(&format!(
                        "{margin}for (int {counter} = 0; {counter} < {limit}; {counter}++) {{\n{inner}{margin}}}\n"
                    )),
                    1 => text.push_str(&format!(
                        "{margin}int {counter} = {limit};\n{margin}while ({counter}-- > 0 && {condition}) {{\n{inner}{margin}}}\n"
                    )),
                    _ => text.push_str(&format!(
                        "{margin}unsigned {counter} = 0;\n{margin}do {{\n{inner}{margin}}} while (++{counter} < {limit});\n"
                    )),
                }
            }
        }
    }
    text
}

fn switches(builder: &mut Builder) {
    builder.cover("switch");
    let scope = machine_scope();
    let mut cases = String::new();
    let mut label = -3i64;
    for _ in 0..builder.random.between(4, 8) {
        cases.push_str(&format!("        case {label}:\n"));
        if builder.random.chance(25) {
            builder.cover("switch-range");
            let end = label + builder.random.between(2, 6);
            cases.push_str(&format!("        case {} ... {end}:\n", label + 1));
            label = end;
        }
        cases.push_str(&format!("            {}\n", assignment(builder)));
        if builder.random.chance(75) {
            cases.push_str("            break;\n");
        } else {
            builder.cover("switch-fallthrough");
            cases.push_str("            /* fall through */\n");
        }
        // Dense labels become tables, sparse ones comparisons.
        label += if builder.random.chance(70) { 1 } else { builder.random.between(2, 90) };
    }
    let values = [
        ("variables", MACHINE_VARIABLES.to_string()),
        ("cases", cases),
        ("span", (label + 6).to_string()),
        ("rounds", builder.number(6, 14)),
        ("deep", scope.text(&mut builder.random, 2)),
        ("guard", scope.text(&mut builder.random, 2)),
        ("huge", builder.random.next().to_string()),
        ("count", builder.number(1, 30)),
    ];
    builder.section(
        "switch",
        r#"
@static const char *@self_name(unsigned kind) {
    switch (kind % 9) {
    case 0: return "zero";
    case 1: return "one";
    case 2: return "two";
    case 3: return "three";
    case 6: return "six";
    default: return "many";
    }
}
@static uint32_t @self_duff(const uint8_t *from, unsigned count) {
    uint32_t sum = 0;
    unsigned turns = (count + 3) / 4;
    switch (count % 4) {
    case 0: do { sum = sum * 31 + *from++; /* fall through */
    case 3:      sum = sum * 31 + *from++; /* fall through */
    case 2:      sum = sum * 31 + *from++; /* fall through */
    case 1:      sum = sum * 31 + *from++;
            } while (--turns > 0);
    }
    return sum;
}
@static uint64_t @self(void) {
@variables
    uint8_t bytes[32];
    for (int i = 0; i < 32; i++) bytes[i] = (uint8_t)take();
    for (int round = 0; round < @rounds; round++) {
        int selector = (int)(take() % @span) - 4;
        switch (selector) {
@cases        default:
            c += 1;
        }
        switch ((int64_t)(@deep)) {
        case INT64_MIN: c ^= 5; break;
        case -1: c += 7; break;
        case 0: c -= 9; break;
        case 1: if (@guard) break; /* fall through */
        case INT64_C(0x7fffffff00000000): c *= 3;
        }
        switch (c) { case UINT64_C(@huge): return 1; case UINT64_MAX: return 2; }
        printf("%s %d\n", @self_name((unsigned)(c >> 7)), selector);
        show("state", a ^ (uint64_t)b ^ c ^ (uint64_t)d);
    }
    return @self_duff(bytes, @count) + c;
}
"#,
        &values,
    );
}

fn gotos(builder: &mut Builder) {
    builder.cover("goto");
    let scope = machine_scope();
    let mut values = vec![
        ("variables", MACHINE_VARIABLES.to_string()),
        ("fuel", builder.number(8, 40)),
        ("rows", builder.number(2, 6)),
        ("columns", builder.number(2, 6)),
    ];
    for key in ["first", "second", "third", "fourth"] {
        values.push((key, scope.text(&mut builder.random, 2)));
    }
    for key in ["one", "two", "three"] {
        values.push((key, assignment(builder)));
    }
    builder.section(
        "goto",
        r#"
@static uint64_t @self(void) {
@variables
    int fuel = @fuel;
    if (@first) goto inside;
again:
    if (--fuel <= 0) goto done;
    @one
    while (@second) {
        if (--fuel <= 0) goto done;
        c += 3;
    inside:
        @two
        if (@third) goto again;
        a += 1;
    }
    if (@fourth) goto again;
    @three
    for (int row = 0; row < @rows; row++) {
        for (int column = 0; column < @columns; column++) {
            c = c * 7 + (uint64_t)(row * 10 + column);
            if ((c & 31) == 5) goto again;
            if ((c & 63) == 7) goto next;
        }
    next:
        show("row", c);
    }
done:
    show("fuel", (uint64_t)fuel);
    return a ^ (uint64_t)b ^ c ^ (uint64_t)d;
}
"#,
        &values,
    );
}

/// A small byte-code machine: the usual reason for computed `goto`.
fn computed_goto(builder: &mut Builder) {
    builder.cover("computed-goto");
    let length = builder.random.between(10, 30);
    let code: Vec<String> = (0..length).map(|_| builder.random.below(6).to_string()).collect();
    let scope = machine_scope();
    let values = [
        ("variables", MACHINE_VARIABLES.to_string()),
        ("code", code.join(", ")),
        ("skip", builder.number(0, 1)),
        ("first", scope.text(&mut builder.random, 2)),
        ("second", scope.text(&mut builder.random, 2)),
        ("assignment", assignment(builder)),
        ("steps", builder.number(20, 60)),
    ];
    builder.section(
        "dispatch",
        r#"
static __attribute__((noinline)) uint64_t @self_run(const uint8_t *code, unsigned length) {
    static const void *const table[] = {&&add, &&test, &&jump, &&assign, &&print, &&stop};
@variables
    unsigned at = 0, steps = 0;
#define @self_NEXT do { if (++steps > @steps || at >= length) goto stop; goto *table[code[at++]]; } while (0)
    @self_NEXT;
add:
    c += (uint64_t)(@first);
    @self_NEXT;
test:
    if (@second) at += @skip;
    @self_NEXT;
jump:
    at = (unsigned)(c % length);
    @self_NEXT;
assign:
    @assignment
    @self_NEXT;
print:
    show("step", c + at);
    @self_NEXT;
stop:
    show("steps", steps);
    return a ^ (uint64_t)b ^ c ^ (uint64_t)d;
}
@static uint64_t @self(void) {
    static const uint8_t code[] = {@code, 5};
    return @self_run(code, (unsigned)sizeof code);
}
"#,
        &values,
    );
}
