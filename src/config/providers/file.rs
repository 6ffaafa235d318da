//! The file that describes providers. Wrong settings are refused in one line that names each affected provider.

mod entry;

use std::{collections::HashSet, fs, path::Path, sync::Arc};

use anyhow::{Context as _, anyhow, ensure};
use domain::{media::Modality, score::Category};
use serde::Deserialize;
use workers::provider::{
    Azure, Builtin, Chat, Guardrail, Hive, Http, Mistral, NaturalLanguage, OpenAi, Provider,
    Providers, Proxy, Rekognition, Sightengine, Style, Vision,
};

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

/// The longest text that a submission can have, in bytes.
const LONGEST_TEXT: usize = 102_400;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Builtin,
    Openai,
    Chat,
    Http,
    Azure,
    Vision,
    NaturalLanguage,
    Mistral,
    Rekognition,
    BedrockGuardrail,
    Hive,
    Sightengine,
}

impl Kind {
    /// Kinds that are reached over the network.
    const REMOTE: &[Self] = &[
        Self::Openai,
        Self::Chat,
        Self::Http,
        Self::Azure,
        Self::Vision,
        Self::NaturalLanguage,
        Self::Mistral,
        Self::Rekognition,
        Self::BedrockGuardrail,
        Self::Hive,
        Self::Sightengine,
    ];
    /// Kinds of these that analyse texts.
    const OF_TEXTS: &[Self] = &[
        Self::Openai,
        Self::Chat,
        Self::Http,
        Self::Azure,
        Self::NaturalLanguage,
        Self::Mistral,
        Self::BedrockGuardrail,
        Self::Hive,
        Self::Sightengine,
    ];
    /// Kinds that analyse texts and images.
    const OF_BOTH: &[Self] = &[
        Self::Builtin,
        Self::Openai,
        Self::Chat,
        Self::Http,
        Self::Azure,
        Self::BedrockGuardrail,
        Self::Hive,
        Self::Sightengine,
    ];
    /// Kinds of AWS, which have regions and roles.
    const OF_AWS: &[Self] = &[Self::Rekognition, Self::BedrockGuardrail];
    /// Kinds whose key has an id.
    const WITH_KEY_ID: &[Self] = &[Self::Rekognition, Self::BedrockGuardrail, Self::Sightengine];

    /// What it analyses by default. A service of the operator may be older than the support of
    /// images.
    fn usual_modalities(self) -> &'static [Modality] {
        match self {
            Self::Chat
            | Self::Http
            | Self::NaturalLanguage
            | Self::Mistral
            | Self::BedrockGuardrail
            | Self::Hive => &[Modality::Text],
            Self::Builtin | Self::Openai | Self::Azure => Modality::ALL,
            Self::Vision | Self::Rekognition | Self::Sightengine => &[Modality::Image],
        }
    }

    /// Whether the file must say what it can score, because that depends on a model or a service of
    /// the operator.
    fn is_taught(self, style: Option<&Style>) -> bool {
        self == Self::Http || matches!(style, Some(Style::Policy { .. }))
    }

    /// What it can score in one modality. For a chat, its style decides that.
    fn can_score(self, modality: Modality, style: Option<&Style>) -> &'static [Category] {
        let (text, image): (&'static [Category], &'static [Category]) = match self {
            Self::Builtin => (Builtin::TEXT, Builtin::IMAGE),
            Self::Openai => (OpenAi::TEXT, OpenAi::IMAGE),
            Self::Chat => {
                let of =
                    |modality| style.map_or(&[][..], |style| Chat::categories_of(style, modality));
                (of(Modality::Text), of(Modality::Image))
            }
            Self::Http => (&Category::ALL, &Category::ALL),
            Self::Azure => (Azure::CATEGORIES, Azure::CATEGORIES),
            Self::Vision => (&[], Vision::CATEGORIES),
            Self::NaturalLanguage => (NaturalLanguage::CATEGORIES, &[]),
            Self::Mistral => (Mistral::CATEGORIES, &[]),
            Self::Rekognition => (&[], Rekognition::CATEGORIES),
            Self::BedrockGuardrail => (Guardrail::CATEGORIES, Guardrail::CATEGORIES),
            Self::Hive => (Hive::TEXT, Hive::IMAGE),
            Self::Sightengine => (Sightengine::TEXT, Sightengine::IMAGE),
        };
        match modality {
            Modality::Text => text,
            Modality::Image => image,
        }
    }

    /// How many bytes of text it gets in one piece: the default, and the highest value.
    fn piece_bytes(self) -> (u64, u64) {
        let (usual, most) = match self {
            Self::Openai => (OpenAi::PIECE_BYTES, LONGEST_TEXT),
            Self::Chat => (Chat::PIECE_BYTES, LONGEST_TEXT),
            Self::Azure => (Azure::PIECE_BYTES, Azure::PIECE_BYTES),
            Self::NaturalLanguage => (NaturalLanguage::PIECE_BYTES, LONGEST_TEXT),
            Self::Mistral => (Mistral::PIECE_BYTES, LONGEST_TEXT),
            Self::BedrockGuardrail => (Guardrail::PIECE_BYTES, 25_000),
            Self::Hive => (Hive::PIECE_BYTES, Hive::PIECE_BYTES),
            Self::Sightengine => (Sightengine::PIECE_BYTES, LONGEST_TEXT),
            Self::Builtin | Self::Http | Self::Vision | Self::Rekognition => {
                (Http::PIECE_BYTES, LONGEST_TEXT)
            }
        };
        (usual as u64, most as u64)
    }
}

#[cfg(test)]
mod tests;
