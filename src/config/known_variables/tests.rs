//! No variable that somebody reads is missing, whoever reads it.

use std::fs;

use super::*;
use crate::commands::Cli;

/// Variables that stand in the repository because they are wrong.
const MISSPELT: [&str; 5] = [
    "GATEHOUSE_CONCURENCY",
    "GATEHOUSE_DATABASE_URL",
    "GATEHOUSE_FROBNICATE",
    "GATEHOUSE_NO_SUCH_VARIABLE",
    "GATEHOUSE_OWN_KEY",
];

/// Calls `look` with the text of every file of a path in the repository, built and downloaded ones left out.
fn walk(path: &Path, look: &mut impl FnMut(&str)) {
    const SKIPPED: [&str; 8] = [
        // The lists themselves.
        "known_variables",
        "known_variables.rs",
        "node_modules",
        "target",
        "dist",
        "pictures",
        "__pycache__",
        ".venv",
    ];
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            let entry = entry.unwrap();
            if !SKIPPED.contains(&&*entry.file_name().to_string_lossy()) {
                walk(&entry.path(), look);
            }
        }
    } else if let Ok(text) = fs::read_to_string(path) {
        look(&text);
    }
}

fn in_repository(path: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    assert!(path.exists(), "there is no {}", path.display());
    path
}

/// The names of variables in a text, and what stands before and after each.
fn names(text: &str) -> impl Iterator<Item = (Option<char>, &str, Option<char>)> {
    text.match_indices(PREFIX).map(|(start, _)| {
        let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let rest = &text[start..];
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let before = text[..start].chars().next_back();
        (before, &rest[..end], rest[end..].chars().next())
    })
}

#[test]
fn every_variable_that_the_program_reads_is_known() {
    let read = read(&Cli::command());
    let mut literals = BTreeSet::new();
    walk(&in_repository("src"), &mut |text: &str| {
        for (before, name, after) in names(text) {
            // A name that is a whole literal is read. Others are parts of messages.
            if before == Some('"')
                && after == Some('"')
                && name != PREFIX
                && !MISSPELT.contains(&name)
            {
                literals.insert(name.to_owned());
            }
        }
    });
    let missing: Vec<_> = literals.difference(&read).collect();
    assert!(missing.is_empty(), "read, but unknown: {missing:?}");
    // The search finds options and others.
    for found in ["GATEHOUSE_CONCURRENCY", "GATEHOUSE_MASTER_KEY_FILE"] {
        assert!(literals.contains(found), "{found}");
    }
    let unread: Vec<_> = NO_OPTIONS
        .iter()
        .filter(|name| name.starts_with(PREFIX) && !literals.contains(**name))
        .collect();
    assert!(unread.is_empty(), "known, but nobody reads it: {unread:?}");
}

#[test]
fn every_variable_of_scripts_manifests_examples_tests_and_pages_is_known() {
    let read = read(&Cli::command());
    let (mut seen, mut missing) = (BTreeSet::new(), BTreeSet::new());
    for path in [
        ".ci",
        "CONTRIBUTING.md",
        "Makefile",
        "README.md",
        "bench",
        "clients",
        "crates",
        "deploy",
        "docs",
        "examples",
        "scripts",
        "tests",
        "workers",
    ] {
        walk(&in_repository(path), &mut |text: &str| {
            for (_, name, _) in names(text) {
                // The beginning of several names.
                if name.ends_with('_') || MISSPELT.contains(&name) {
                    continue;
                }
                seen.insert(name.to_owned());
                if !read.contains(name) && !OF_OTHERS.contains(&name) {
                    missing.insert(format!("{name} in {path}"));
                }
            }
        });
    }
    assert!(missing.is_empty(), "unknown: {missing:?}");
    let unused: Vec<_> = OF_OTHERS
        .iter()
        .filter(|name| !seen.contains(**name))
        .collect();
    assert!(unused.is_empty(), "nobody uses {unused:?}");
}

fn told_of(named: &[String], set: &[&str]) -> Vec<String> {
    let set = set.iter().map(|name| (*name).to_owned()).collect();
    unknown(&Cli::command(), named, &set)
}

#[test]
fn an_unknown_variable_is_told_with_the_nearest_known_one() {
    for (name, near) in [
        (
            "GATEHOUSE_CONCURENCY",
            "did you mean GATEHOUSE_CONCURRENCY?",
        ),
        ("GATEHOUSE_DATABASE_URL", "did you mean DATABASE_URL?"),
        ("GATEHOUSE_MASTERKEY", "did you mean GATEHOUSE_MASTER_KEY?"),
        // Only a subcommand of `admin` and the console read it.
        ("GATEHOUSE_PUBLIC_URI", "did you mean GATEHOUSE_PUBLIC_URL?"),
        (
            "gatehouse_concurrency",
            "did you mean GATEHOUSE_CONCURRENCY?",
        ),
        ("GATEHOUSE_FROBNICATE", "docs/configuration.md lists all"),
    ] {
        let told = told_of(&[], &[name]);
        assert_eq!(told.len(), 1, "{name}: {told:?}");
        let is_told = told[0].contains(&format!("`{name}`")) && told[0].contains(near);
        assert!(is_told, "{told:?}");
    }
}

#[test]
fn variables_of_others_are_no_mistakes() {
    let set = [
        "PATH",
        "DATABASE_URI",
        "GATEHOUSE_CONCURRENCY",
        "GATEHOUSE_IMAGE",
        // Kubernetes sets them for the Service `gatehouse-api`.
        "GATEHOUSE_API_SERVICE_HOST",
        "GATEHOUSE_API_SERVICE_PORT_HTTP",
        "GATEHOUSE_API_PORT",
        "GATEHOUSE_API_PORT_8080_TCP_ADDR",
        "GATEHOUSE_HIVE_KEY",
    ];
    let named = ["GATEHOUSE_HIVE_KEY".to_owned()];
    assert_eq!(told_of(&named, &set), Vec::<String>::new());
    // Without the Service and without the file, they are.
    let told = told_of(&[], &["GATEHOUSE_API_PORT", "GATEHOUSE_HIVE_KEY"]);
    assert_eq!(told.len(), 2, "{told:?}");
}
