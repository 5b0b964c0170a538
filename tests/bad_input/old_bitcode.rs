//! Bitcode of older clangs, at -O0, -O2 and for 32 bits, loads; made by `tests/fixtures/make`.

use super::support::{Scratch, fixture, guarded, load_guarded};
use lockcheck::frontend::{DataModel, LoadOptions, load};

#[test]
fn bitcode_of_older_clangs_loads() {
    for version in ["14", "16", "19"] {
        for (flavour, pointer_bytes) in [("O0", 8), ("O2", 8), ("m32", 4)] {
            let name = format!("two-threads-clang{version}-{flavour}.bc");
            let program = load_guarded(&[fixture(&name)]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(program.layout.pointer_bytes, pointer_bytes, "{name}");
            for function in ["main", "push"] {
                let id = program.function_named(function).unwrap_or_else(|| panic!("{name} has {function}"));
                assert!(program.functions[id].is_defined(), "{name} defines {function}");
                assert!(program.functions[id].line > 0, "{name} knows where {function} stands");
            }
        }
    }
}

#[test]
fn old_bitcode_links_with_new() {
    let scratch = Scratch::new();
    let addition = scratch.file("addition.c", "int addition(int a) { return a + 1; }\n");
    for version in ["14", "16", "19"] {
        for (flavour, model) in [("O0", DataModel::Bits64), ("m32", DataModel::Bits32)] {
            let old = fixture(&format!("two-threads-clang{version}-{flavour}.bc"));
            let options = LoadOptions { data_model: Some(model), ..guarded() };
            let program = load(&[old, addition.clone()], &options).unwrap_or_else(|error| panic!("{error}"));
            assert!(program.function_named("addition").is_some() && program.function_named("push").is_some());
        }
    }
}
