//! Random small C programs whose threads take elements of one array of locks, by indices that they get: in order, out of order, compared, swapped, or
//! compared the wrong way round. The values are in memory, so that nothing static knows them.

use std::fmt::Write;

use super::random::Random;

/// All that a program may use.
pub const FORMS: [&str; 8] = ["next", "previous", "branch", "wrong branch", "swap", "wrong swap", "first", "pointers"];

pub struct Elements {
    pub source: String,
    pub forms: Vec<&'static str>,
}

fn pair(text: &mut String, first: &str, second: &str) {
    for step in [
        format!("pthread_mutex_lock({first});"),
        format!("pthread_mutex_lock({second});"),
        format!("pthread_mutex_unlock({second});"),
        format!("pthread_mutex_unlock({first});"),
    ] {
        writeln!(text, "    {step}").expect("a string grows");
    }
}

pub fn program(seed: u64) -> Elements {
    let mut random = Random::new(seed ^ 0x5eed);
    let threads = 2 + usize::from(random.chance(20));
    let mut text =
        String::from("#include <pthread.h>\npthread_mutex_t k[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, ");
    text += "PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};\nstruct pair { int i, j; };\nstruct pair pairs[3];\n";
    let mut forms = Vec::new();
    let bodies = if random.chance(60) { 1 } else { threads };
    for body in 0..bodies {
        writeln!(text, "static void *t{body}(void *p) {{\n  int i = ((struct pair *)p)->i, j = ((struct pair *)p)->j;")
            .expect("written");
        for _ in 0..1 + random.below(2) {
            let form = FORMS[random.below(FORMS.len() as u64) as usize];
            forms.push(form);
            // i and j differ.
            let (low, high) = if random.chance(80) { ("&k[i]", "&k[j]") } else { ("&k[j]", "&k[i]") };
            match form {
                "next" => pair(&mut text, "&k[i]", "&k[i + 1]"),
                "previous" => pair(&mut text, "&k[i + 1]", "&k[i]"),
                "branch" | "wrong branch" => {
                    let operator = if form == "branch" { "<" } else { "!=" };
                    writeln!(text, "  if (i {operator} j) {{").expect("written");
                    pair(&mut text, low, high);
                    text += "  } else {\n";
                    let (first, second) = if random.chance(80) { (high, low) } else { (low, high) };
                    pair(&mut text, first, second);
                    text += "  }\n";
                }
                "swap" | "wrong swap" => {
                    let operator = if form == "swap" { ">" } else { "==" };
                    writeln!(text, "  {{ int a = i, b = j; if (a {operator} b) {{ a = j; b = i; }}").expect("written");
                    pair(&mut text, "&k[a]", "&k[b]");
                    text += "  }\n";
                }
                "first" => {
                    text += "  if (i != 0) {\n";
                    pair(&mut text, "&k[0]", "&k[i]");
                    text += "  }\n";
                }
                _ => {
                    text += "  { pthread_mutex_t *a = &k[i], *b = &k[j]; if (a > b) { a = &k[j]; b = &k[i]; }\n";
                    pair(&mut text, "a", "b");
                    text += "  }\n";
                }
            }
        }
        text += "  return p;\n}\n";
    }
    text += "int main(void) {\n  pthread_t h[3];\n";
    for thread in 0..threads {
        let i = random.below(2);
        let j = if random.chance(70) { 1 - i } else { 2 };
        writeln!(text, "  pairs[{thread}].i = {i};\n  pairs[{thread}].j = {j};").expect("written");
    }
    if bodies == 1 {
        writeln!(text, "  for (int n = 0; n < {threads}; n++) pthread_create(&h[n], 0, t0, &pairs[n]);").expect("written");
    } else {
        for thread in 0..threads {
            writeln!(text, "  pthread_create(&h[{thread}], 0, t{thread}, &pairs[{thread}]);").expect("written");
        }
    }
    for thread in 0..threads {
        writeln!(text, "  pthread_join(h[{thread}], 0);").expect("written");
    }
    text += "  return 0;\n}\n";
    Elements { source: text, forms }
}
