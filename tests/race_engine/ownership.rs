//! Random programs of threads that hand addresses around: of their own variables, thread-locals and allocations, through parameters and results, and
//! through a shared slot, where others pick them up, in structures, lists of arguments and arrays that are sorted; threads that are started by a wrapper which is given the
//! function, and memory that their creator has prepared.

use std::collections::BTreeSet;

use super::random::Random;

/// What a hundred programs cover.
pub const FEATURES: [&str; 23] = [
    "allocated",
    "argument",
    "boxed",
    "boxed-by-another",
    "boxed-copy",
    "chosen",
    "freed",
    "helper",
    "kept",
    "listed",
    "main-takes-part",
    "own-variable",
    "part",
    "part-of-an-array",
    "prepared",
    "returned",
    "sorted",
    "started-by-wrapper",
    "taken",
    "thread-local",
    "two-entries",
    "viewed",
    "viewed-by-another",
];

const HEAD: &str = "#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
extern _Bool __VERIFIER_nondet_bool(void);
static int g, other, *_Atomic slot = &g;
static _Thread_local int own;
static void keep(int *d) { slot = d; }
static int *taken(void) { return slot; }
static void put(int *d) { *d = 1; }
static int *same(int *d) { return d; }
struct box { int *kept; int more; };
static struct box boxes[3], crates[2], *_Atomic spare = &crates[0];
static void pack(struct box *b, int *d) { b->kept = d; }
static int *unpack(struct box *b) { int *d = b->kept; return d ? d : &g; }
struct view { struct box *b; long number; };
static struct view common = {&crates[1], 0}, *_Atomic shown = &common;
static void touch(struct view *v) { v->b->more = 1; }
static int by(const void *p, const void *q) { ((const struct view *)p)->b->more = 2; return p < q; }
static void each(int n, ...) { va_list l; va_start(l, n); while (n--) *va_arg(l, int *) = 3; va_end(l); }
static void set(struct box *b, int n) { b->more = n; }
static struct box *crate(void) { return calloc(1, sizeof(struct box)); }
static int *made(void) { int *d = malloc(sizeof *d); return d; }
static int *either(int *d, int *e) { return __VERIFIER_nondet_bool() ? d : e; }
static void start(pthread_t *t, void *(*entry)(void *), void *argument) { pthread_create(t, 0, entry, argument); }";

struct Writer {
    random: Random,
    features: BTreeSet<&'static str>,
    functions: Vec<String>,
    /// Visible operations that may still be written.
    left: i64,
    /// Mostly boxes are shown and looked into.
    is_about_boxes: bool,
    /// Mostly structures and lists lead to boxes.
    is_about_views: bool,
}

/// The program of a seed.
pub fn program(seed: u64) -> (String, BTreeSet<&'static str>) {
    let random = Random::new(seed ^ 0x0771_0771);
    let mut writer = Writer {
        random,
        features: BTreeSet::new(),
        functions: Vec::new(),
        left: 0,
        is_about_boxes: false,
        is_about_views: false,
    };
    writer.is_about_boxes = writer.random.chance(25);
    writer.is_about_views = !writer.is_about_boxes && writer.random.chance(30);
    let text = writer.write();
    (text, writer.features)
}

impl Writer {
    fn cover(&mut self, feature: &'static str) {
        assert!(FEATURES.contains(&feature), "{feature} is not among the features");
        self.features.insert(feature);
    }

    fn write(&mut self) -> String {
        let first = self.thread("first");
        let has_second = self.random.chance(50);
        let second = if has_second { self.thread("second") } else { String::new() };
        let main = self.main(if has_second { "second" } else { "first" });
        let mut lines = vec![HEAD.to_owned()];
        lines.append(&mut self.functions);
        lines.extend([first, second, main]);
        lines.retain(|line| !line.is_empty());
        lines.join("\n") + "\n"
    }

    fn thread(&mut self, name: &str) -> String {
        self.left = if self.is_about_boxes { 4 } else { 3 };
        let mut body = vec!["int v, seen = 0, *d = &v; struct box mine = {0, 0}, *b = &mine; struct view view = {&mine, 0}, views[2] = {{&mine, 0}, {&mine, 0}};".to_owned()];
        match self.random.below(5) {
            0 => body.push("b = crate();".to_owned()),
            1 => {
                self.cover("part");
                let is_beyond = self.random.chance(20);
                body.push((if is_beyond { "b = (struct box *)a + 1;" } else { "b = a;" }).to_owned());
            }
            2 => {
                self.cover("boxed-by-another");
                body.push("spare = b;".to_owned());
            }
            _ => {}
        }
        if self.is_about_boxes {
            self.left -= 2;
            let show = ["d = made(); pack(b, d); spare = b;", "d = made(); pack(spare, d);"];
            let look = ["d = unpack(b);", "b = spare; d = unpack(b);", "mine = *b; d = unpack(&mine);", ""];
            body.push(format!("{} {}", self.random.pick(&show), self.random.pick(&look)));
        } else if self.is_about_views {
            body.extend(self.views());
        } else if self.random.chance(60) {
            body.push(format!("d = {};", self.address("d", true)));
        }
        let count = if self.is_about_boxes || self.is_about_views { 0 } else { self.random.between(2, 3) };
        for _ in 0..count {
            body.extend(self.statement("d", true));
        }
        if !self.is_about_views {
            body.push((*self.random.pick(&["put(d);", "*d = 6;", "seen += *d;"])).to_owned());
        }
        body.push("return (void *)(long)seen;".into());
        format!("static void *{name}(void *a) {{\n{}}}", indent(&body))
    }

    fn main(&mut self, second: &str) -> String {
        if second == "second" {
            self.cover("two-entries");
        } else if self.random.chance(60) {
            self.cover("part-of-an-array");
            let lines = [
                "pthread_t t[2];".to_owned(),
                self.creations(),
                (*self.random.pick(&["", "boxes[0].kept = &g;", "spare = &boxes[1];", "g = 3;"])).into(),
                "for (int i = 0; i < 2; i++) pthread_join(t[i], 0);".into(),
                "return 0;".into(),
            ];
            return format!("int main(void) {{\n{}}}", indent(&lines));
        }
        let is_wrapped = self.random.chance(60);
        let mut create = |handle: &str, entry: &str| {
            let argument = *self.random.pick(&["&boxes[0]", "&boxes[1]", "&crates[0]"]);
            match is_wrapped {
                true => format!("start(&{handle}, {entry}, {argument});"),
                false => format!("pthread_create(&{handle}, 0, {entry}, {argument});"),
            }
        };
        let (one, two) = (create("t", "first"), create("u", second));
        if is_wrapped {
            self.cover("started-by-wrapper");
        }
        let mut lines = vec!["pthread_t t, u;".to_owned(), one];
        if self.random.chance(40) {
            self.cover("main-takes-part");
            lines.push((*self.random.pick(&["g = 3;", "put(&other);", "*taken() = 4;"])).to_owned());
        }
        let join = "pthread_join(t, 0);".to_owned();
        if self.random.chance(20) {
            lines.extend([join, two]);
        } else {
            lines.extend([two, join]);
        }
        lines.extend(["pthread_join(u, 0);".to_owned(), "return 0;".into()]);
        format!("int main(void) {{\n{}}}", indent(&lines))
    }

    /// A box is reached by a structure, a list of arguments, or an element that a comparison gets.
    fn views(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.random.chance(30) {
            self.cover("viewed-by-another");
            let share = [
                "shown = &view;",
                "view = *shown;",
                "shown->b = b;",
                "views[1].b = shown->b;",
                "view.b = b; shown = &view;",
                "b = shown->b;",
            ];
            lines.push((*self.random.pick(&share)).to_owned());
        }
        let (feature, how) = *self.random.pick(&[
            ("viewed", "view.b = b; touch(&view);"),
            ("viewed", "view = (struct view){b, 1}; touch(&view);"),
            ("viewed", "touch(&view);"),
            ("viewed", "touch(shown);"),
            ("listed", "each(1, &b->more);"),
            ("sorted", "views[0].b = b; qsort(views, 2, sizeof *views, by);"),
            ("sorted", "qsort(views, 2, sizeof *views, by);"),
        ]);
        self.cover(feature);
        lines.push(how.to_owned());
        lines
    }

    /// A loop that creates two threads, and perhaps prepares what they get.
    fn creations(&mut self) -> String {
        if self.random.chance(if self.is_about_views { 30 } else { 90 }) {
            return "for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, first, &boxes[i]);".to_owned();
        }
        self.cover("prepared");
        let prepare = [
            "boxes[i].more = i;",
            "set(&boxes[i], i);",
            "boxes[i].kept = &other;",
            "boxes[0].more = i;",
            "set(boxes, i);",
            "set(&boxes[i + 1], i);",
        ];
        let (before, after) =
            (*self.random.pick(&prepare), if self.random.chance(25) { *self.random.pick(&prepare) } else { "" });
        format!("for (int i = 0; i < 2; i++) {{ {before} pthread_create(&t[i], 0, first, &boxes[i]); {after} }}")
    }

    /// Something is done with the address that `name` holds.
    fn statement(&mut self, name: &str, is_thread: bool) -> Vec<String> {
        if self.left <= 0 {
            return Vec::new();
        }
        self.left -= 1;
        let line = match self.random.below(if is_thread { 13 } else { 9 }) {
            9 | 10 => {
                self.cover("boxed");
                self.left -= 1;
                format!("pack(b, {name});")
            }
            11 => {
                self.left -= 1;
                (*self.random.pick(&["b = spare;", "d = unpack(b);", "d = unpack(b);", "pack(spare, d);"])).to_owned()
            }
            12 => {
                self.cover("boxed-copy");
                self.left -= 1;
                (*self.random.pick(&["mine = *b;", "*b = mine;", "d = unpack(&mine);"])).to_owned()
            }
            0..=2 => {
                let address = self.address(name, is_thread);
                format!("{name} = {address};")
            }
            3 => format!("put({name});"),
            4 => format!("*{name} = 2;"),
            5 => {
                self.cover("kept");
                self.left -= 1;
                format!("keep({name});")
            }
            6 if is_thread => format!("seen += *{name};"),
            7 if self.random.chance(25) => {
                self.cover("freed");
                return vec![
                    format!("{name} = made();"),
                    "put(".to_owned() + name + ");",
                    format!("free({name});"),
                    format!("{name} = &g;"),
                ];
            }
            _ if is_thread => self.helper(name),
            _ => format!("*{name} = 5;"),
        };
        vec![line]
    }

    fn address(&mut self, name: &str, is_thread: bool) -> String {
        let address = match self.random.below(if is_thread { 10 } else { 5 }) {
            8 | 9 => "unpack(b)".to_owned(),
            0 | 1 => {
                self.cover("taken");
                self.left -= 1;
                "taken()".to_owned()
            }
            2 => {
                self.cover("allocated");
                "made()".to_owned()
            }
            3 => {
                self.cover("thread-local");
                "&own".to_owned()
            }
            4 => {
                self.cover("chosen");
                self.left -= 1;
                format!("either({name}, taken())")
            }
            5 => {
                self.cover("argument");
                "&((struct box *)a)->more".to_owned()
            }
            _ => {
                self.cover("own-variable");
                "&v".to_owned()
            }
        };
        match self.random.chance(25) {
            true => {
                self.cover("returned");
                format!("same({address})")
            }
            false => address,
        }
    }

    /// A function of its own that is given the address.
    fn helper(&mut self, name: &str) -> String {
        self.cover("helper");
        let mut body = Vec::new();
        for _ in 0..self.random.between(1, 2) {
            body.extend(self.statement("e", false));
        }
        let helper = format!("helper{}", self.functions.len());
        let result = if self.random.chance(50) { "e" } else { "0" };
        body.push(format!("return {result};"));
        self.functions.push(format!("static int *{helper}(int *e) {{\n{}}}", indent(&body)));
        match result {
            "e" => format!("{name} = {helper}({name});"),
            _ => format!("{helper}({name});"),
        }
    }
}

fn indent(lines: &[String]) -> String {
    lines.iter().map(|line| format!("    {line}\n")).collect()
}
