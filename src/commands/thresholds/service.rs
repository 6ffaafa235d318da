//! One of the two services, and what it is asked. The same code asks both, because ours speaks their formats.

use anyhow::bail;
use reqwest::StatusCode;
use serde_json::Value;
use url::Url;

use super::{
    api_errors::Refusal,
    openai,
    perspective::{self, Asked},
    sample::Scores,
};
use crate::commands::http_client::{Client, Reply};

/// A service, and a key to it.
pub(super) struct Service {
    pub(super) name: &'static str,
    pub(super) client: Client,
    /// Of the operation, without the key.
    pub(super) url: Url,
    pub(super) key: String,
    pub(super) format: Format,
}

/// A format of requests and answers.
pub(super) enum Format {
    OpenAi { model: String },
    Perspective(Asked),
}

/// What a service says about a text: its scores, or the code with which it refuses the text.
pub(super) type Answer = Result<Scores, String>;

impl Service {
    /// Scores a text. `place` is what it is about, for messages.
    ///
    /// # Errors
    /// The service refuses the key, or every text; it fails for too long; it is another service.
    pub(super) async fn score(&self, place: &str, text: &str) -> anyhow::Result<Answer> {
        match &self.format {
            Format::OpenAi { model } => {
                let reply = self.ask(place, &openai::request(model, text)).await?;
                let read = self.read(&reply, openai::scores)?;
                Ok(read.map_err(|refusal| refusal.code()))
            }
            Format::Perspective(asked) => self.attributes(place, text, asked).await,
        }
    }

    /// Asks for all attributes, and without those that the service refuses by name.
    async fn attributes(&self, place: &str, text: &str, asked: &Asked) -> anyhow::Result<Answer> {
        let mut attributes = asked.attributes();
        let mut unknown_language = None;
        while !attributes.is_empty() {
            let reply = self.ask(place, &asked.request(&attributes, text)).await?;
            let refusal = match self.read(&reply, perspective::scores)? {
                Ok(scores) => return Ok(Ok(scores)),
                Err(refusal) => refusal,
            };
            let named = refusal.attribute(&attributes).cloned();
            let Some(refused) = named.filter(|_| !refusal.is_unscored()) else {
                return Ok(Err(refusal.code()));
            };
            attributes.remove(&refused);
            if refusal.is_about_language() {
                unknown_language = Some(refusal.code());
            } else {
                asked.forget(&refused);
            }
        }
        Ok(unknown_language.map_or_else(|| Ok(Scores::new()), Err))
    }

    async fn ask(&self, place: &str, request: &Value) -> anyhow::Result<Reply> {
        let request = || match self.format {
            Format::OpenAi { .. } => {
                let post = self.client.post(self.url.as_str());
                post.bearer_auth(&self.key).json(request)
            }
            Format::Perspective(_) => {
                let mut url = self.url.clone();
                url.query_pairs_mut().append_pair("key", &self.key);
                self.client.post(url.as_str()).json(request)
            }
        };
        self.client
            .ask(&format!("{place}, {}", self.name), request)
            .await
    }

    fn read(
        &self,
        Reply { status, body }: &Reply,
        scores: fn(&[u8]) -> Option<Scores>,
    ) -> anyhow::Result<Result<Scores, Refusal>> {
        let name = self.name;
        if *status == StatusCode::OK {
            let Some(scores) = scores(body) else {
                bail!("{name} answers in another format: is the URL right?");
            };
            return Ok(Ok(scores));
        }
        let refusal = Refusal::read(*status, body);
        if refusal.is_of_all_texts() {
            bail!(
                "{name} refuses with {} ({}): are the URL, the key and its quota right?",
                status.as_u16(),
                refusal.code()
            );
        }
        Ok(Err(refusal))
    }
}
