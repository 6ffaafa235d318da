//! One provider in the file, and how it is created.

mod allowed_fields;
mod categories;
mod chat;
mod connection;
mod credentials;
mod service_options;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use anyhow::{Context as _, anyhow, ensure};
use domain::{media::Modality, score::Category};
use serde::Deserialize;
use url::Url;
use workers::provider::{
    Auth, Azure, Builtin, Chat, Guardrail, Hive, Http, Mistral, NaturalLanguage, OpenAi, Provider,
    ProviderError, Proxy, Rekognition, Sightengine, Vision,
};

use self::{
    chat::{FormatName, StyleName},
    credentials::{AuthName, CredentialsName, header},
};
use super::{Surroundings, kind::Kind};
use crate::config::providers::read_encoder;

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

impl Entry {
    /// Creates the provider.
    pub(super) fn provider(
        mut self,
        surroundings: &Surroundings,
    ) -> anyhow::Result<Arc<dyn Provider>> {
        self.check_members()?;
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
}
