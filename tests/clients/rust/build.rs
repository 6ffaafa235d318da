//! Generates the client from the document, as docs/clients.md shows it.

use std::{env, error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let document = "../../../openapi/public.json";
    println!("cargo:rerun-if-changed={document}");
    // progenitor reads bodies of the exact type application/json only. A problem document is JSON, too.
    let text =
        fs::read_to_string(document)?.replace("application/problem+json", "application/json");
    let api = serde_json::from_str(&text)?;
    let client = progenitor::Generator::default().generate_tokens(&api)?;
    let code = prettyplease::unparse(&syn::parse2(client)?);
    fs::write(Path::new(&env::var("OUT_DIR")?).join("gatehouse.rs"), code)?;
    Ok(())
}
