//! Generates the clients from the documents, as docs/clients.md shows it.

use std::{env, error::Error, fs, path::Path};

use progenitor::{GenerationSettings, Generator, InterfaceStyle};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    for name in ["public", "management"] {
        let document = format!("../../../openapi/{name}.json");
        println!("cargo:rerun-if-changed={document}");
        // progenitor reads bodies of the exact type application/json only. A problem document is
        // JSON, too.
        let text =
            fs::read_to_string(document)?.replace("application/problem+json", "application/json");
        // With builders, code goes on compiling when the interface grows.
        let settings = GenerationSettings::default()
            .with_interface(InterfaceStyle::Builder)
            .clone();
        let mut document = serde_json::from_str(&text)?;
        write_null_as_progenitor_reads_it(&mut document);
        let api = serde_json::from_value(document)?;
        let client = Generator::new(&settings).generate_tokens(&api)?;
        let code = prettyplease::unparse(&syn::parse2(client)?);
        let out = env::var("OUT_DIR")?;
        fs::write(Path::new(&out).join(format!("{name}.rs")), code)?;
    }
    Ok(())
}

/// progenitor makes an `Option` of a reference that is `nullable`, and an enum of one that is one
/// of two, the other being null.
fn write_null_as_progenitor_reads_it(value: &mut Value) {
    if let Some([reference, other]) = value
        .get("oneOf")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        && other["enum"] == json!([null])
    {
        value["allOf"] = json!([reference]);
        value["nullable"] = true.into();
        value.as_object_mut().map(|members| members.remove("oneOf"));
    }
    match value {
        Value::Object(members) => members
            .values_mut()
            .for_each(write_null_as_progenitor_reads_it),
        Value::Array(items) => items.iter_mut().for_each(write_null_as_progenitor_reads_it),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
