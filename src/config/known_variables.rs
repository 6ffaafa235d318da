//! The variables that somebody reads. A variable of ours that nobody reads has no effect, so its name is probably misspelt.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    path::{Path, PathBuf},
};

use clap::{Arg, Command, CommandFactory};

use super::{did_you_mean::nearest, environment::RENAMED, providers, variable};
use crate::terminal::quoted;

const PREFIX: &str = "GATEHOUSE_";
const PROVIDERS_FILE: &str = "GATEHOUSE_PROVIDERS_FILE";

/// What this program reads although it is no option: secrets, files with them, and how to log.
const NO_OPTIONS: [&str; 11] = [
    "GATEHOUSE_LOG",
    "GATEHOUSE_LOG_FORMAT",
    "GATEHOUSE_MASTER_KEY",
    "GATEHOUSE_MASTER_KEY_FILE",
    "GATEHOUSE_OIDC_CLIENT_SECRET",
    "GATEHOUSE_OIDC_CLIENT_SECRET_FILE",
    "GATEHOUSE_OPENAI_API_KEY",
    "GATEHOUSE_PROVIDER_PROXY_PASSWORD",
    "GATEHOUSE_SITE_KEY",
    "GATEHOUSE_WEBHOOK_SECRET",
    "DATABASE_URL_FILE",
];

/// What others read who may share the environment: the compose file, the examples, the clients' tests, and the scripts and tests of
/// this repository.
const OF_OTHERS: [&str; 22] = [
    "GATEHOUSE_BINARY",
    "GATEHOUSE_BUILT",
    "GATEHOUSE_CONSOLE_LINK",
    "GATEHOUSE_DELIVERY_ID",
    "GATEHOUSE_DEMO",
    "GATEHOUSE_ENDPOINT_ID",
    "GATEHOUSE_HASH_LIST_ID",
    "GATEHOUSE_IMAGE",
    "GATEHOUSE_MEDIA_ID",
    "GATEHOUSE_OPS_PASSWORD",
    "GATEHOUSE_ORIGIN",
    "GATEHOUSE_PLAN_ID",
    "GATEHOUSE_PREVIOUS",
    "GATEHOUSE_QUEUE_TEST_WORKER",
    "GATEHOUSE_RELIABILITY",
    "GATEHOUSE_TEST_PROXY_TARGET",
    "GATEHOUSE_THIS",
    "GATEHOUSE_TOKEN",
    "GATEHOUSE_TOKEN_ID",
    "GATEHOUSE_TOOLS",
    "GATEHOUSE_URL",
    "GATEHOUSE_WRITE_DOCUMENT",
];

/// One sentence for each variable that begins with `GATEHOUSE_` and that nobody reads, with the nearest one that somebody reads.
/// An empty variable counts as not set. `providers` is the file of providers, which may name variables, too.
pub(crate) fn unknown_variables<C: CommandFactory>(providers: Option<&Path>) -> Vec<String> {
    // A process that uses no providers gets the variable, too.
    let shared = || variable(PROVIDERS_FILE).ok().flatten().map(PathBuf::from);
    let providers = providers.map(PathBuf::from).or_else(shared);
    let named = providers.map(|file| providers::variables(&file));
    let set = std::env::vars_os()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, _)| name.to_string_lossy().into_owned())
        .collect();
    unknown(&C::command(), &named.unwrap_or_default(), &set)
}

fn unknown(command: &Command, named: &[String], set: &BTreeSet<String>) -> Vec<String> {
    let read = read(command);
    let is_known = |name: &str| {
        read.contains(name)
            || OF_OTHERS.contains(&name)
            || named.iter().any(|named| named == name)
            || is_of_kubernetes(name, set)
    };
    set.iter()
        .filter(|name| name.to_ascii_uppercase().starts_with(PREFIX) && !is_known(name))
        .map(|name| told(name, &read))
        .collect()
}

fn told(name: &str, read: &BTreeSet<String>) -> String {
    let beginning = format!("the variable {} is unknown and has no effect", quoted(name));
    let short: BTreeMap<&str, &String> = read.iter().map(|known| (bare(known), known)).collect();
    let upper = name.to_ascii_uppercase();
    match nearest(bare(&upper), short.keys().copied()).and_then(|near| short.get(near)) {
        Some(near) => format!("{beginning}: did you mean {near}?"),
        None => format!("{beginning}: docs/configuration.md lists all variables"),
    }
}

/// A name without the part that all have.
fn bare(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}

/// All variables that this program reads.
fn read(command: &Command) -> BTreeSet<String> {
    let mut read: BTreeSet<String> = NO_OPTIONS.map(str::to_owned).into();
    read.extend(RENAMED.map(|(earlier, _)| earlier.to_owned()));
    add_options(command, &mut read);
    read
}

fn add_options(command: &Command, read: &mut BTreeSet<String>) {
    let variables = command.get_arguments().filter_map(Arg::get_env);
    read.extend(variables.filter_map(OsStr::to_str).map(str::to_owned));
    for inner in command.get_subcommands() {
        add_options(inner, read);
    }
}

/// Kubernetes sets variables for every Service of a pod's namespace, unless the pod has `enableServiceLinks: false`. For
/// `gatehouse-api`, they are `GATEHOUSE_API_SERVICE_HOST`, `GATEHOUSE_API_PORT_8080_TCP` and others.
fn is_of_kubernetes(name: &str, set: &BTreeSet<String>) -> bool {
    name.match_indices('_').any(|(end, _)| {
        let (service, rest) = name.split_at(end);
        let is_link =
            rest == "_PORT" || rest.starts_with("_PORT_") || rest.starts_with("_SERVICE_");
        is_link && set.contains(&format!("{service}_SERVICE_HOST"))
    })
}

#[cfg(test)]
mod tests;
