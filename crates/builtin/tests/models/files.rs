//! The files that the repository has, and what `README.md` says about them.

use std::{collections::BTreeMap, fs, path::Path};

use sha2::{Digest as _, Sha256};

/// `models/`.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn bytes(path: &str) -> Vec<u8> {
    fs::read(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_manifest_names_each_file_of_weights_and_its_sum() {
    let told = fs::read_to_string(root().join("SHA256SUMS")).unwrap();
    let told: BTreeMap<&str, &str> = told
        .lines()
        .map(|line| {
            let (sum, path) = line.split_once("  ").expect("sum and path");
            (path, sum)
        })
        .collect();
    let mut found = BTreeMap::new();
    for folder in ["text", "image"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|kind| kind != "json") {
                let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
                found.insert(
                    name.to_owned(),
                    hex::encode(Sha256::digest(fs::read(&path).unwrap())),
                );
            }
        }
    }
    let found: BTreeMap<&str, &str> = found
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    assert!(found.contains_key("text/linear.clf"), "{found:?}");
    assert_eq!(
        found, told,
        "make SHA256SUMS anew: crates/builtin/README.md"
    );
}

#[test]
fn the_readme_describes_each_file_of_weights() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let told = fs::read_to_string(root().join("SHA256SUMS")).unwrap();
    for line in told.lines() {
        let (_, path) = line.split_once("  ").expect("sum and path");
        assert!(
            readme.contains(&format!("### `{path}`")),
            "no heading for {path}"
        );
    }
}
