//! Models behind an OpenAI-compatible chat endpoint, `POST {base}/v1/chat/completions` or at
//! another path: vLLM, Ollama, llama.cpp, OpenAI, Mistral, `OpenRouter`, Gemini, Claude and others.
//! Servers know different parts of OpenAI's interface. [`ChatSettings`] says which parts are used.
//!
//! A *style* is how a model is asked and how its answer is read. Each style has a file.

mod llama_guard;
mod policy;

use std::borrow::Cow;

use domain::{
    image::ImageFormat,
    media::Modality,
    score::{Category, Scores},
};
use picture::Limits;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Answer, Content, IMAGE_SIDE, ProviderError, Question, RemoteProvider,
    cost::TOKENS,
    remote::Remote,
    transport::{Transport, parsed},
};

/// A model, and how it is asked.
pub struct Chat {
    transport: Transport,
    model: String,
    style: Style,
    settings: ChatSettings,
}

/// The limits of images, which are sent as data URIs. The strictest servers take 5 MB, and base64
/// makes four bytes of three.
const LIMITS: Limits = Limits {
    bytes: 3_750_000,
    min_side: 1,
    max_side: IMAGE_SIDE,
    formats: &[ImageFormat::Jpeg, ImageFormat::Png],
};

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
        let transport = Transport::new(remote, kind)?
            .telling(TOKENS)
            .depending_on(&model)
            .depending_on(&format!("{style:?}"))
            .depending_on(&format!("{settings:?}"));
        Ok(Self {
            transport: transport.with_images(LIMITS),
            model,
            style,
            settings,
        })
    }

    /// The categories that a model can score in this style.
    pub fn categories_of(style: &Style, modality: Modality) -> &'static [Category] {
        match (style, modality) {
            (Style::LlamaGuard, Modality::Text) => llama_guard::CATEGORIES,
            (Style::LlamaGuard, Modality::Image) => &[],
            (Style::Policy { .. }, _) => &Category::ALL,
        }
    }

    /// Checks by its name whether a model that is asked as Llama Guard has the known hazards.
    ///
    /// # Errors
    /// What is wrong with the name, and what to use instead.
    pub fn has_known_hazards(model: &str) -> Result<(), String> {
        llama_guard::other_hazards(model).map_or(Ok(()), Err)
    }
}

impl RemoteProvider for Chat {
    fn transport(&self) -> &Transport {
        &self.transport
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
            // Equal texts should get equal answers.
            request["temperature"] = json!(0);
        }
        let url = self.transport.at(&self.settings.path);
        let received = self.transport.post(url, &request).await?;
        received.answer(|body| {
            let choice = read(body)?;
            match &self.style {
                Style::LlamaGuard => {
                    llama_guard::read(&choice, &self.transport.profile().scope.text)
                }
                Style::Policy { .. } => policy::read(&choice, question.categories, format),
            }
        })
    }
}

/// How a model is asked.
#[derive(Clone, Debug)]
pub enum Style {
    /// As Llama Guard 3, which answers `safe`, or `unsafe` and the hazards.
    LlamaGuard,
    /// By a written policy, like gpt-oss-safeguard, for JSON with a score for each category.
    Policy {
        /// The policy for sites that have none of their own.
        usual: String,
    },
}

/// The parts of OpenAI's interface that a server knows.
#[derive(Clone, Debug)]
pub struct ChatSettings {
    /// The path of requests, below the base URL.
    pub path: String,
    /// The most tokens that an answer may have.
    pub most_tokens: Option<MostTokens>,
    /// How the form of an answer is requested.
    pub answer_format: AnswerFormat,
    /// Whether requests set the temperature to 0, so that equal texts get equal answers.
    pub temperature: bool,
}

impl ChatSettings {
    /// The path on most servers.
    pub const PATH: &str = "/v1/chat/completions";
}

impl Default for ChatSettings {
    /// What vLLM, llama.cpp and Ollama understand.
    fn default() -> Self {
        Self {
            path: Self::PATH.to_owned(),
            most_tokens: None,
            answer_format: AnswerFormat::Schema,
            temperature: true,
        }
    }
}

/// The most tokens that an answer may have, and the member for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MostTokens {
    /// `max_tokens`.
    Answer(u32),
    /// `max_completion_tokens`, which includes the tokens of a model's thoughts.
    Completion(u32),
}

/// How the form of an answer by policy is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerFormat {
    /// By a JSON schema, which the server enforces.
    Schema,
    /// As any JSON object.
    Object,
    /// In words only. Other words may surround the JSON.
    Words,
}

/// The parts of an answer that we read.
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

/// A model's message: a text, or parts (Mistral's reasoning models). Only parts that are texts
/// count.
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

/// The answer, if it is complete and the only one.
fn read(body: &[u8]) -> Result<Choice, ProviderError> {
    let response: Response = parsed(body)?;
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

/// Only these of the scores.
fn only(scores: &Scores, categories: &[Category]) -> Scores {
    let scores = scores.iter();
    scores
        .filter(|(category, _)| categories.contains(category))
        .collect()
}
