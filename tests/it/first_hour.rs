//! What a person meets who has just installed Gatehouse: the commands of `docs/management.md`, and
//! messages that say what to do.

mod connections;
mod database;
mod endpoints;
mod page;
mod values;
mod variables;

use std::process::Command;

use crate::support::unset;

/// What a command without a database printed: standard output, standard error, and whether it
/// succeeded.
fn printed(variables: &[(&str, &str)], arguments: &[&str]) -> (String, String, bool) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatehouse"));
    unset(&mut command);
    let output = command
        .envs(variables.iter().copied())
        .args(arguments)
        .output()
        .unwrap();
    let [out, error] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (out, error, output.status.success())
}
