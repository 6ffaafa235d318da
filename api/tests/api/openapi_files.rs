//! The OpenAPI documents of `openapi/`. `scripts/documents --check` compares them with what the program writes, which takes ten
//! times as long as reading them: hundreds of tests look at them, each in a process of its own.

use std::{fs, sync::LazyLock};

use serde_json::Value;

/// The public interface's.
pub(crate) fn public() -> &'static Value {
    static PUBLIC: LazyLock<Value> = LazyLock::new(|| read("public"));
    &PUBLIC
}

/// The management interface's.
pub(crate) fn management() -> &'static Value {
    static MANAGEMENT: LazyLock<Value> = LazyLock::new(|| read("management"));
    &MANAGEMENT
}

fn read(name: &str) -> Value {
    let path = format!("{}/../openapi/{name}.json", env!("CARGO_MANIFEST_DIR"));
    // Not `from_str`, which would be compiled with this test, unoptimised.
    fs::read_to_string(path).unwrap().parse().unwrap()
}
