//! Generates the clients from the documents, as docs/clients.md shows it.

use std::{env, error::Error, fs, path::Path};

use progenitor::{GenerationSettings, Generator, InterfaceStyle};

fn main() -> Result<(), Box<dyn Error>> {
    for name in ["public", "management"] {
        let document = format!("../../../openapi/{name}.json");
        println!("cargo:rerun-if-changed={document}");
        // progenitor reads bodies of the exact type application/json only. A problem document is JSON, too.
        let text =
            fs::read_to_string(document)?.replace("application/problem+json", "application/json");
        // With builders, code goes on compiling when the interface grows.
        let settings = GenerationSettings::default()
            .with_interface(InterfaceStyle::Builder)
            .clone();
        let api = serde_json::from_str(&text)?;
        let client = Generator::new(&settings).generate_tokens(&api)?;
        let code = prettyplease::unparse(&syn::parse2(client)?);
        let out = env::var("OUT_DIR")?;
        fs::write(Path::new(&out).join(format!("{name}.rs")), code)?;
    }
    Ok(())
}
