//! One provider in the file, and how it is created.

mod credentials;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, anyhow, bail, ensure};
use domain::{media::Modality, policy::Policy, score::Category};
use serde::Deserialize;
use url::Url;
use workers::provider::{
    AnswerFormat, Auth, Azure, Builtin, Chat, ChatSettings, Guardrail, GuardrailId, Hive, Http,
    Mistral, MostTokens, NaturalLanguage, OpenAi, Provider, ProviderError, Proxy, Rekognition,
    Scope, Sightengine, Style, Vision,
};

use super::{Surroundings, provider_kinds::Kind};
use crate::config::providers::read_encoder;
use credentials::{AuthName, CredentialsName, header, read, within};

/// One provider as the file describes it. Its kind decides which members it can have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) name: String,
    kind: Kind,
    url: Option<Url>,
    region: Option<String>,
    languages: Option<Vec<String>>,
    guardrail: Option<String>,
    guardrail_version: Option<String>,
    model: Option<String>,
    style: Option<StyleName>,
    policy_file: Option<PathBuf>,
    encoder_file: Option<PathBuf>,
    key_id: Option<String>,
    key_env: Option<String>,
    key_file: Option<PathBuf>,
    session_token_env: Option<String>,
    session_token_file: Option<PathBuf>,
    credentials: Option<CredentialsName>,
    auth: Option<AuthName>,
    key_header: Option<String>,
    proxy: Option<String>,
    proxy_password_env: Option<String>,
    proxy_password_file: Option<PathBuf>,
    headers: Option<BTreeMap<String, String>>,
    path: Option<String>,
    max_tokens: Option<u64>,
    max_completion_tokens: Option<u64>,
    answer_format: Option<FormatName>,
    temperature: Option<bool>,
    modalities: Option<Vec<Modality>>,
    categories: Option<Vec<Category>>,
    deadline_seconds: Option<u64>,
    concurrency: Option<u64>,
    piece_bytes: Option<u64>,
    flagged_at_least: Option<f64>,
    breaker_failures: Option<u64>,
    breaker_seconds: Option<u64>,
    /// Its proxy, once it is known.
    #[serde(skip)]
    way: Option<Proxy>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StyleName {
    LlamaGuard,
    Policy,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FormatName {
    JsonSchema,
    JsonObject,
    Words,
}

/// The members that only some kinds have.
const MEMBERS: [(&str, &[Kind]); 33] = [
    ("url", Kind::REMOTE),
    ("region", Kind::OF_AWS),
    ("languages", &[Kind::Sightengine]),
    ("guardrail", &[Kind::BedrockGuardrail]),
    ("guardrail_version", &[Kind::BedrockGuardrail]),
    ("model", &[Kind::Openai, Kind::Chat, Kind::Mistral]),
    ("style", &[Kind::Chat]),
    ("policy_file", &[Kind::Chat]),
    ("encoder_file", &[Kind::Builtin]),
    ("key_id", Kind::WITH_KEY_ID),
    ("key_env", Kind::REMOTE),
    ("key_file", Kind::REMOTE),
    ("session_token_env", Kind::OF_AWS),
    ("session_token_file", Kind::OF_AWS),
    ("credentials", Kind::OF_AWS),
    ("auth", &[Kind::Http]),
    ("key_header", &[Kind::Chat, Kind::Http]),
    ("headers", Kind::REMOTE),
    ("proxy", Kind::REMOTE),
    ("proxy_password_env", Kind::REMOTE),
    ("proxy_password_file", Kind::REMOTE),
    ("path", &[Kind::Chat]),
    ("max_tokens", &[Kind::Chat]),
    ("max_completion_tokens", &[Kind::Chat]),
    ("answer_format", &[Kind::Chat]),
    ("temperature", &[Kind::Chat]),
    ("modalities", Kind::OF_BOTH),
    ("deadline_seconds", Kind::REMOTE),
    ("concurrency", Kind::REMOTE),
    ("piece_bytes", Kind::OF_TEXTS),
    ("flagged_at_least", &[Kind::Openai]),
    ("breaker_failures", Kind::REMOTE),
    ("breaker_seconds", Kind::REMOTE),
];

impl Entry {
    /// Creates the provider. `members` is what the file has about it.
    pub(super) fn provider(
        mut self,
        members: &toml::Table,
        surroundings: &Surroundings,
    ) -> anyhow::Result<Arc<dyn Provider>> {
        // They would have no effect.
        for (member, kinds) in MEMBERS {
            ensure!(
                !members.contains_key(member) || kinds.contains(&self.kind),
                "its kind has no member {member}"
            );
        }
        let directory = surroundings.directory;
        self.way = self.way(surroundings)?;
        let failed = |error: ProviderError| anyhow!("its client cannot be set up: {error}");
        Ok(match self.kind {
            Kind::Builtin => {
                let scope = self.scope(None)?;
                let encoder = self.encoder_file.as_deref().map(|path| {
                    read_encoder(&directory.join(path))
                        .with_context(|| format!("its encoder_file {}", path.display()))
                });
                Arc::new(Builtin::new(self.name, scope, encoder.transpose()?))
            }
            Kind::Openai => {
                let auth = Auth::Bearer(self.needed_key(directory)?);
                let remote = self.remote(Some(OpenAi::URL), auth, None)?;
                let least = self.flagged_at_least.unwrap_or(OpenAi::FLAGGED_AT_LEAST);
                ensure!(
                    (0.0..=1.0).contains(&least),
                    "its flagged_at_least must be from 0 to 1"
                );
                let model = self.model.unwrap_or_else(|| OpenAi::MODEL.to_owned());
                Arc::new(OpenAi::new(remote, model, least).map_err(failed)?)
            }
            Kind::Chat => {
                let style = self.style(directory)?;
                let auth = self.auth(directory)?;
                let remote = self.remote(None, auth, Some(&style))?;
                let settings = self.chat_settings()?;
                let model = self.model.context("it needs its model")?;
                Arc::new(Chat::new(remote, model, style, settings).map_err(failed)?)
            }
            Kind::Http => {
                let auth = self.auth(directory)?;
                let remote = self.remote(None, auth, None)?;
                Arc::new(Http::new(remote).map_err(failed)?)
            }
            Kind::Azure => {
                let auth = header(Azure::KEY_HEADER, self.needed_key(directory)?)?;
                let remote = self.remote(None, auth, None)?;
                Arc::new(Azure::new(remote).map_err(failed)?)
            }
            Kind::Vision => {
                let auth = header(Vision::KEY_HEADER, self.needed_key(directory)?)?;
                let remote = self.remote(Some(Vision::URL), auth, None)?;
                Arc::new(Vision::new(remote).map_err(failed)?)
            }
            Kind::NaturalLanguage => {
                let auth = header(NaturalLanguage::KEY_HEADER, self.needed_key(directory)?)?;
                let remote = self.remote(Some(NaturalLanguage::URL), auth, None)?;
                Arc::new(NaturalLanguage::new(remote).map_err(failed)?)
            }
            Kind::Mistral => {
                let auth = Auth::Bearer(self.needed_key(directory)?);
                let remote = self.remote(Some(Mistral::URL), auth, None)?;
                let model = self.model.unwrap_or_else(|| Mistral::MODEL.to_owned());
                Arc::new(Mistral::new(remote, model).map_err(failed)?)
            }
            Kind::Rekognition => {
                let region = self.region()?;
                let usual = Rekognition::url(&region);
                let remote = self.remote(Some(&usual), Auth::Nothing, None)?;
                let access = self.aws_access(&region, directory)?;
                Arc::new(Rekognition::new(remote, region, access).map_err(failed)?)
            }
            Kind::BedrockGuardrail => {
                let region = self.region()?;
                let usual = Guardrail::url(&region);
                let remote = self.remote(Some(&usual), Auth::Nothing, None)?;
                let access = self.aws_access(&region, directory)?;
                let provider = Guardrail::new(remote, region, access, &self.guardrail()?);
                Arc::new(provider.map_err(failed)?)
            }
            Kind::Hive => {
                let modalities = self.modalities.as_ref();
                ensure!(
                    modalities.is_none_or(|named| named.len() == 1),
                    "a Hive project analyses texts or images; configure two providers"
                );
                let key = format!("token {}", self.needed_key(directory)?);
                let auth = header(Hive::KEY_HEADER, key)?;
                let remote = self.remote(Some(Hive::URL), auth, None)?;
                Arc::new(Hive::new(remote).map_err(failed)?)
            }
            Kind::Sightengine => {
                let (user, secret) = (self.needed_key_id()?, self.needed_key(directory)?);
                let remote = self.remote(Some(Sightengine::URL), Auth::Nothing, None)?;
                let languages = self.languages()?;
                let provider = Sightengine::new(remote, user, secret, languages);
                Arc::new(provider.map_err(failed)?)
            }
        })
    }

    /// What it scores: the named categories, or all that it can score in its modalities.
    fn scope(&self, style: Option<&Style>) -> anyhow::Result<Scope> {
        let usual = self.kind.usual_modalities();
        let modalities = self.modalities.as_deref().unwrap_or(usual);
        ensure!(!modalities.is_empty(), "its modalities are empty");
        ensure!(
            self.categories.is_some() || !self.kind.is_taught(style),
            "it needs its categories"
        );
        let can = |modality: Modality| {
            let looks = modalities.contains(&modality);
            let can = self.kind.can_score(modality, style);
            if looks { can } else { &[] }
        };
        if let Some(named) = &self.categories {
            ensure!(!named.is_empty(), "its categories are empty");
            let cannot = |c: &&Category| Modality::ALL.iter().all(|m| !can(*m).contains(c));
            if let Some(other) = named.iter().find(cannot) {
                bail!("it cannot score {other}");
            }
        }
        let wanted = |category: &Category| {
            let named = self.categories.as_ref();
            named.is_none_or(|named| named.contains(category))
        };
        let scored = |modality: Modality| {
            let all = Category::ALL.into_iter().filter(wanted);
            all.filter(|category| can(modality).contains(category))
                .collect()
        };
        let scope = Scope {
            text: scored(Modality::Text),
            image: scored(Modality::Image),
        };
        let named = self.modalities.iter().flatten();
        if let Some(idle) = named.copied().find(|named| scope.of(*named).is_empty()) {
            bail!("it cannot score anything in its modality {idle}");
        }
        Ok(scope)
    }

    fn region(&self) -> anyhow::Result<String> {
        let region = self.region.clone().context("it needs its region")?;
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        ensure!(
            !region.is_empty() && region.chars().all(allowed),
            "its region must consist of a-z, 0-9 and -"
        );
        Ok(region)
    }

    fn languages(&self) -> anyhow::Result<String> {
        let Some(languages) = &self.languages else {
            return Ok(Sightengine::LANGUAGES.to_owned());
        };
        let is_code =
            |code: &String| code.len() == 2 && code.chars().all(|c| c.is_ascii_lowercase());
        ensure!(
            !languages.is_empty() && languages.iter().all(is_code),
            "its languages must be codes of two letters"
        );
        Ok(languages.join(","))
    }

    fn guardrail(&self) -> anyhow::Result<GuardrailId> {
        let id = self.guardrail.clone().context("it needs its guardrail")?;
        let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric());
        ensure!(
            !id.is_empty() && is_plain(&id),
            "its guardrail must be an id of letters and digits"
        );
        let version = self.guardrail_version.clone();
        let version = version.context("it needs its guardrail_version")?;
        let is_number = version.chars().all(|c| c.is_ascii_digit()) && !version.starts_with('0');
        ensure!(
            version == "DRAFT" || !version.is_empty() && is_number,
            "its guardrail_version must be a number or DRAFT"
        );
        Ok(GuardrailId { id, version })
    }

    fn style(&self, directory: &Path) -> anyhow::Result<Style> {
        let style = self
            .style
            .context("it needs its style, llama_guard or policy")?;
        if let (StyleName::LlamaGuard, Some(model)) = (style, &self.model) {
            Chat::has_known_hazards(model).map_err(|wrong| anyhow!("its model {wrong}"))?;
        }
        match (style, &self.policy_file) {
            (StyleName::LlamaGuard, None) => Ok(Style::LlamaGuard),
            (StyleName::LlamaGuard, Some(_)) => bail!("its style has no member policy_file"),
            (StyleName::Policy, None) => bail!("it needs a policy_file"),
            (StyleName::Policy, Some(path)) => {
                let usual = read("policy_file", &directory.join(path))?;
                let usual =
                    Policy::try_from(usual).map_err(|error| anyhow!("its policy {error}"))?;
                Ok(Style::Policy {
                    usual: usual.into(),
                })
            }
        }
    }

    fn chat_settings(&self) -> anyhow::Result<ChatSettings> {
        let most = |member, given: Option<u64>| -> anyhow::Result<Option<u32>> {
            let given = given.map(|given| within(member, Some(given), given, 16..=1_000_000));
            Ok(given.transpose()?.map(u32::try_from).transpose()?)
        };
        let answer = most("max_tokens", self.max_tokens)?;
        let completion = most("max_completion_tokens", self.max_completion_tokens)?;
        ensure!(
            answer.is_none() || completion.is_none(),
            "it has max_tokens and max_completion_tokens; give only one"
        );
        let path = self.path.as_deref().unwrap_or(ChatSettings::PATH);
        ensure!(
            path.starts_with('/') && !path.contains(['?', '#']),
            "its path must begin with / and have no query and no fragment"
        );
        Ok(ChatSettings {
            path: path.to_owned(),
            most_tokens: answer
                .map(MostTokens::Answer)
                .or(completion.map(MostTokens::Completion)),
            answer_format: match self.answer_format {
                None | Some(FormatName::JsonSchema) => AnswerFormat::Schema,
                Some(FormatName::JsonObject) => AnswerFormat::Object,
                Some(FormatName::Words) => AnswerFormat::Words,
            },
            temperature: self.temperature.unwrap_or(true),
        })
    }
}
