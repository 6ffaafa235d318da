//! Models behind an OpenAI-compatible chat endpoint, `POST {base}/v1/chat/completions` or at another path: vLLM, Ollama,
//! llama.cpp, OpenAI, Mistral, `OpenRouter`, Gemini, Claude and others. Servers differ in what of OpenAI's interface they know:
//! [`ChatSettings`] says what is asked of them.
//!
//! What a model is told, and how its answer is read, is its style: one file each.

mod llama_guard;
mod policy;

use std::borrow::Cow;

use domain::{
    image::ImageFormat,
    media::Modality,
    score::{Category, Scores},
};
use futures::{FutureExt as _, future::BoxFuture};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Answer, Content, IMAGE_SIDE, Profile, Provider, ProviderError, Question,
    wire::{Remote, Wire},
};
use crate::picture::Limits;

/// How a model is asked.
#[derive(Clone, Debug)]
pub enum Style {
    /// As Llama Guard 3, which answers `safe`, or `unsafe` and the hazards.
    LlamaGuard,
    /// By a policy in words, as gpt-oss-safeguard is, for a score of each category in JSON.
    Policy {
        /// What is told on behalf of sites that have no policy of their own.
        usual: String,
    },
}

/// What a server knows of OpenAI's interface.
#[derive(Clone, Debug)]
pub struct ChatSettings {
    /// Where questions go, below the base.
    pub path: String,
    /// The most tokens that an answer may have.
    pub most_tokens: Option<MostTokens>,
    /// How an answer's form is asked for.
    pub answer_format: AnswerFormat,
    /// Whether it may be told to answer the same to the same text.
    pub temperature: bool,
}

impl ChatSettings {
    /// Where most servers have it.
    pub const PATH: &str = "/v1/chat/completions";
}

impl Default for ChatSettings {
    /// What vLLM, llama.cpp and Ollama know.
    fn default() -> Self {
        Self {
            path: Self::PATH.to_owned(),
            most_tokens: None,
            answer_format: AnswerFormat::Schema,
            temperature: true,
        }
    }
}

/// The most tokens that an answer may have, and how that is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MostTokens {
    /// `max_tokens`.
    Answer(u32),
    /// `max_completion_tokens`: those that a model thinks with, too.
    Completion(u32),
}

/// How the form of an answer by policy is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerFormat {
    /// By a JSON schema, which the server holds the model to.
    Schema,
    /// As any JSON object.
    Object,
    /// In words only. The JSON may stand between other words.
    Words,
}

/// A model, and how it is asked.
pub struct Chat {
    wire: Wire,
    model: String,
    style: Style,
    settings: ChatSettings,
}

/// What images are shown as, in a data URI. 5 MB is what the strictest take, and base64 makes four bytes of three.
const LIMITS: Limits = Limits {
    bytes: 3_750_000,
    min_side: 1,
    max_side: IMAGE_SIDE,
    formats: &[ImageFormat::Jpeg, ImageFormat::Png],
};

/// What we read of an answer.
#[derive(Deserialize)]
struct Response {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    #[serde(default)]
    finish_reason: Option<String>,
    #[serde(default)]
    logprobs: Option<LogProbs>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<Said>,
}

/// What a model said: a text, or parts, as of Mistral's models that think. Of the parts only texts count.
#[derive(Deserialize)]
#[serde(untagged)]
enum Said {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    text: Option<String>,
}

#[derive(Deserialize)]
struct LogProbs {
    #[serde(default)]
    content: Option<Vec<Token>>,
}

/// A token and the natural logarithm of its probability.
#[derive(Deserialize)]
struct Token {
    token: String,
    logprob: f64,
}

impl Chat {
    /// Bytes of text in one question, which leaves room for a policy in a context of 8,192 tokens.
    pub const PIECE_BYTES: usize = 6_000;

    /// The model at `remote`, whose URL is the base, without `/v1`.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(
        remote: Remote,
        model: String,
        style: Style,
        settings: ChatSettings,
    ) -> Result<Self, ProviderError> {
        let kind = match style {
            Style::LlamaGuard => "chat/llama_guard",
            Style::Policy { .. } => "chat/policy",
        };
        let looks = !remote.scope.image.is_empty();
        let wire = Wire::new(remote, kind)?;
        Ok(Self {
            wire: if looks {
                wire.with_images(LIMITS)
            } else {
                wire
            },
            model,
            style,
            settings,
        })
    }

    /// What a model asked in this style can score, of texts or of images.
    pub fn categories_of(style: &Style, modality: Modality) -> &'static [Category] {
        match (style, modality) {
            (Style::LlamaGuard, Modality::Text) => llama_guard::CATEGORIES,
            (Style::LlamaGuard, Modality::Image) => &[],
            (Style::Policy { .. }, _) => &Category::ALL,
        }
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let format = self.settings.answer_format;
        let mut request = match (&self.style, question.content) {
            (Style::LlamaGuard, Content::Text(text)) => llama_guard::request(text),
            (Style::LlamaGuard, Content::Image(_)) => {
                return Err(ProviderError::Malformed("it looks at texts only"));
            }
            (Style::Policy { usual }, content) => {
                let policy = question.policy.unwrap_or(usual);
                policy::request(content, policy, question.categories, format)
            }
        };
        request["model"] = Value::String(self.model.clone());
        let usual = match self.style {
            Style::LlamaGuard => llama_guard::MAX_TOKENS,
            Style::Policy { .. } => policy::MAX_TOKENS,
        };
        match self
            .settings
            .most_tokens
            .unwrap_or(MostTokens::Answer(usual))
        {
            MostTokens::Answer(most) => request["max_tokens"] = json!(most),
            MostTokens::Completion(most) => request["max_completion_tokens"] = json!(most),
        }
        if self.settings.temperature {
            // The same text is to get the same answer.
            request["temperature"] = json!(0);
        }
        let url = self.wire.at(&self.settings.path);
        let received = self.wire.post(url, &request).await?;
        let choice = read(&received.body)?;
        let scores = match &self.style {
            Style::LlamaGuard => llama_guard::read(&choice, &self.profile().scope.text)?,
            Style::Policy { .. } => policy::read(&choice, question.categories, format)?,
        };
        Ok(received.answer(scores))
    }
}

/// The one answer, if it is whole.
fn read(body: &[u8]) -> Result<Choice, ProviderError> {
    // serde's message may quote the answer, which may quote the text.
    let response: Response = serde_json::from_slice(body)
        .map_err(|_| ProviderError::Malformed("not the documented JSON"))?;
    let [choice]: [Choice; 1] = response
        .choices
        .try_into()
        .map_err(|_| ProviderError::Malformed("not one choice"))?;
    match choice.finish_reason.as_deref() {
        None | Some("stop") => Ok(choice),
        Some(_) => Err(ProviderError::Malformed("the model did not finish")),
    }
}

impl Choice {
    fn content(&self) -> Result<Cow<'_, str>, ProviderError> {
        match &self.message.content {
            Some(Said::Text(text)) => Ok(Cow::Borrowed(text)),
            Some(Said::Parts(parts)) => {
                let texts = parts.iter().filter(|part| part.kind == "text");
                Ok(texts.filter_map(|part| part.text.as_deref()).collect())
            }
            None => Err(ProviderError::Malformed("no content")),
        }
    }
}

impl Provider for Chat {
    fn profile(&self) -> &Profile {
        self.wire.profile()
    }

    fn analyse<'a>(
        &'a self,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<Answer, ProviderError>> {
        self.ask(question).boxed()
    }
}

/// Only these of the scores.
fn only(scores: &Scores, categories: &[Category]) -> Scores {
    let scores = scores.iter();
    scores
        .filter(|(category, _)| categories.contains(category))
        .collect()
}
