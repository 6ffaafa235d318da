//! The file that describes providers. Wrong settings are refused in one line that names each affected provider.

mod entry;
mod provider_kinds;

use std::{collections::HashSet, fs, path::Path, sync::Arc};

use anyhow::{Context as _, anyhow, ensure};
use serde::Deserialize;
use workers::provider::{Provider, Providers, Proxy};

use crate::config::did_you_mean::with_nearest;
use entry::Entry;

/// Each is a value of metric labels, and in the worst case an item is sent to all of them.
const MOST_PROVIDERS: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    provider: Vec<Entry>,
}

/// What all entries share.
struct Surroundings<'a> {
    /// Paths in the file are relative to it.
    directory: &'a Path,
    /// The proxy for entries that name none.
    proxy: Option<&'a Proxy>,
}

/// Reads the file and creates the providers.
pub(super) fn load(path: &Path, proxy: Option<&Proxy>) -> anyhow::Result<Providers> {
    let shown = path.display();
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read the providers in {shown}"))?;
    let directory = path.parent().unwrap_or(Path::new("."));
    let surroundings = Surroundings { directory, proxy };
    parse(&text, &surroundings).map_err(|error| anyhow!("the providers in {shown}: {error:#}"))
}

/// The variables that the file names, in members such as `key_env`. None if it cannot be read: [`load`] says why.
pub(in crate::config) fn variables(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let file: toml::Table = toml::from_str(&text).unwrap_or_default();
    entries(&file)
        .flatten()
        .filter(|(member, _)| member.ends_with("_env"))
        .filter_map(|(_, name)| name.as_str().map(str::to_owned))
        .collect()
}

/// The entries, with their members as they are written.
fn entries(file: &toml::Table) -> impl Iterator<Item = &toml::Table> {
    let entries = file.get("provider").and_then(toml::Value::as_array);
    let entries = entries.into_iter().flatten();
    entries.filter_map(toml::Value::as_table)
}

fn parse(text: &str, surroundings: &Surroundings) -> anyhow::Result<Providers> {
    let file: File = toml::from_str(text).map_err(|error| {
        let line = error
            .span()
            .map(|span| text[..span.start].matches('\n').count() + 1);
        let place = line
            .map(|line| format!("line {line}: "))
            .unwrap_or_default();
        let message = error.message().replace('\n', " ");
        anyhow!("{place}{}", with_nearest(&message))
    })?;
    ensure!(!file.provider.is_empty(), "there is no [[provider]]");
    ensure!(
        file.provider.len() <= MOST_PROVIDERS,
        "there are more than {MOST_PROVIDERS}"
    );
    let mut names = HashSet::new();
    let (mut providers, mut mistakes): (Vec<Arc<dyn Provider>>, Vec<String>) = Default::default();
    let written: toml::Table = toml::from_str(text)?;
    // Serde also takes a list of values for a struct.
    ensure!(
        entries(&written).count() == file.provider.len(),
        "each provider is a table: [[provider]]"
    );
    for (entry, members) in file.provider.into_iter().zip(entries(&written)) {
        let name = entry.name.clone();
        if !is_name(&name) {
            mistakes.push(format!(
                "{name:?} is no name: it has 1 to 40 of a-z, 0-9, _ and -, a letter first"
            ));
        }
        if !names.insert(name.clone()) {
            mistakes.push(format!("there are two with the name {name}"));
        }
        match entry.provider(members, surroundings) {
            Ok(provider) => providers.push(provider),
            Err(error) => mistakes.push(format!("{name}: {error:#}")),
        }
    }
    ensure!(mistakes.is_empty(), "{}", mistakes.join("; "));
    Ok(providers.into())
}

fn is_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    (1..=40).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(allowed)
}

#[cfg(test)]
mod tests;
