//! Straight-line integer code over variables of every width: mixed-type expressions, compound assignment, increments,
//! comma, short-circuit and conditional evaluation with side effects that are sequenced.

use super::builder::Builder;
use super::expression::Scope;
use super::kind::Kind;

pub fn integer_section(builder: &mut Builder) {
    let count = builder.random.between(4, 6) as usize;
    let kinds: Vec<Kind> = (0..count).map(|_| *builder.random.pick(&Kind::ALL)).collect();
    let names: Vec<String> = (0..count).map(|index| format!("v{index}")).collect();
    let variables: Vec<(&str, Kind)> = names.iter().map(String::as_str).zip(kinds.iter().copied()).collect();
    let scope = Scope::new(&variables);
    builder.cover("integer-widths");
    if kinds.contains(&Kind::BOOL) {
        builder.cover("bool");
    }

    let mut declarations = String::new();
    for (name, kind) in &variables {
        declarations.push_str(&format!("    {} {name} = ({})take();\n", kind.name(), kind.name()));
    }
    let mut statements = String::new();
    let length = builder.random.between(6, 11);
    for index in 0..length {
        let line = statement(builder, &scope, &variables);
        statements.push_str(&format!("        {line}\n"));
        if index % 2 == 1 {
            let (name, _) = *builder.random.pick(&variables);
            statements.push_str(&format!("        show(\"{name}@{index}\", (uint64_t){name});\n"));
        }
    }
    cover_operators(builder, &statements);
    let total = names.iter().map(|name| format!("(uint64_t){name}")).collect::<Vec<_>>().join(" ^ ");
    let rounds = builder.number(1, 4);
    let values = [("declarations", declarations), ("statements", statements), ("total", total), ("rounds", rounds)];
    builder.section(
        "integers",
        r#"
@static uint64_t @self(void) {
@declarations
    for (int round = 0; round < @rounds; round++) {
@statements    }
    return @total;
}
"#,
        &values,
    );
}

fn statement(builder: &mut Builder, scope: &Scope, variables: &[(&str, Kind)]) -> String {
    let random = &mut builder.random;
    let target = random.below(variables.len() as u64) as usize;
    let other = (target + 1 + random.below(variables.len() as u64 - 1) as usize) % variables.len();
    let ((name, kind), (second, second_kind)) = (variables[target], variables[other]);
    let choice = random.below(12);
    let value = scope.text(random, 3);
    match choice {
        0..=3 => format!("{name} = ({}){value};", kind.name()),
        4..=6 => compound(builder, scope, name, kind),
        7 => {
            builder.cover("comma");
            let rest = scope.text(&mut builder.random, 2);
            format!("{name} = ({second} = ({}){value}, ({}){rest});", second_kind.name(), kind.name())
        }
        8 => {
            builder.cover("short-circuit");
            let condition = scope.text(&mut builder.random, 2);
            let operator = builder.choose(&["&&", "||"]);
            let outcome = format!("({second} = ({}){value}) != 0", second_kind.name());
            format!("if ({condition} != 0 {operator} {outcome}) {name} ^= 1;")
        }
        9 => {
            builder.cover("conditional-side-effects");
            let condition = scope.text(&mut builder.random, 2);
            let rest = scope.text(&mut builder.random, 2);
            let assigned = format!("({name} = ({}){value})", kind.name());
            format!("(void)({condition} ? {assigned} : ({second} = ({}){rest}));", second_kind.name())
        }
        // A narrow type is incremented as an int and wraps on the way back; int and wider signed types would overflow.
        10 if kind != Kind::I32 && kind != Kind::I64 && kind != Kind::BOOL => {
            builder.cover("increment");
            let random = &mut builder.random;
            match random.below(3) {
                0 => format!("{name}++;"),
                1 => format!("--{name};"),
                _ => format!("{second} = ({}){name}--;", second_kind.name()),
            }
        }
        _ => {
            builder.cover("conversion-chain");
            let random = &mut builder.random;
            let (first, middle) = (random.pick(&Kind::ALL).name(), random.pick(&Kind::ALL).name());
            format!("{name} = ({})({first})({middle}){value};", kind.name())
        }
    }
}

fn compound(builder: &mut Builder, scope: &Scope, name: &str, kind: Kind) -> String {
    builder.cover("compound-assignment");
    let random = &mut builder.random;
    let value = scope.text(random, 2);
    match random.below(4) {
        0 => {
            // In the unsigned type that is at least as wide as the target nothing overflows.
            let operator = random.pick(&["+=", "-=", "*="]);
            let wide = if kind.bits == 64 || random.chance(30) { "uint64_t" } else { "uint32_t" };
            format!("{name} {operator} ({wide}){value};")
        }
        1 => {
            let operator = random.pick(&["&=", "|=", "^="]);
            format!("{name} {operator} {value};")
        }
        2 => {
            let operator = random.pick(&["/=", "%="]);
            let mask = (1 << random.between(2, 16)) - 1;
            format!("{name} {operator} ({value} & {mask}) + 1;")
        }
        _ if !kind.signed && random.chance(50) => {
            // A narrow unsigned type is shifted as an int: the count must keep its bits below the sign.
            let most = if kind.bits >= 32 { kind.bits - 1 } else { (kind.bits - 1).min(30 - kind.bits) };
            let count = random.below(u64::from(most) + 1);
            format!("{name} <<= {count};")
        }
        _ => format!("{name} >>= ({value} & {});", kind.promoted().bits - 1),
    }
}

fn cover_operators(builder: &mut Builder, statements: &str) {
    let visible = [
        (" / ", "division"),
        (" % ", "remainder"),
        ("<<", "shift-left"),
        (">>", "shift-right"),
        (" ? ", "ternary"),
        ("!=", "comparison"),
    ];
    for (text, feature) in visible {
        if statements.contains(text) {
            builder.cover(feature);
        }
    }
    builder.cover("signed-unsigned-conversion");
}
