//! Models behind an OpenAI-compatible chat endpoint, `POST {base}/v1/chat/completions`: vLLM, Ollama, llama.cpp and others.
//!
//! What a model is told, and how its answer is read, is its style: one file each.

mod llama_guard;
mod policy;

use domain::score::{Category, Scores};
use futures::{FutureExt as _, future::BoxFuture};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Answer, Content, Profile, Provider, ProviderError, Question,
    wire::{Remote, Said, Wire, together},
};

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

/// A model, and how it is asked.
pub struct Chat {
    wire: Wire,
    model: String,
    style: Style,
}

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
    content: Option<String>,
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
    pub fn new(remote: Remote, model: String, style: Style) -> Result<Self, ProviderError> {
        let kind = match style {
            Style::LlamaGuard => "chat/llama_guard",
            Style::Policy { .. } => "chat/policy",
        };
        Ok(Self {
            wire: Wire::new(remote, kind)?,
            model,
            style,
        })
    }

    /// What a model asked in this style can score, of texts.
    pub fn categories_of(style: &Style) -> &'static [Category] {
        match style {
            Style::LlamaGuard => llama_guard::CATEGORIES,
            Style::Policy { .. } => &Category::ALL,
        }
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let Content::Text(text) = question.content else {
            return Ok(Answer::default());
        };
        let pieces = self.wire.pieces(text).into_iter();
        let asking = pieces.map(|piece| self.ask_piece(piece, question));
        together(asking.collect()).await
    }

    async fn ask_piece(&self, text: &str, question: Question<'_>) -> Result<Said, ProviderError> {
        let mut request = match &self.style {
            Style::LlamaGuard => llama_guard::request(text),
            Style::Policy { usual } => {
                let policy = question.policy.unwrap_or(usual);
                policy::request(text, policy, question.categories)
            }
        };
        request["model"] = Value::String(self.model.clone());
        // The same text is to get the same answer.
        request["temperature"] = json!(0);
        let received = self
            .wire
            .post(self.wire.at("/v1/chat/completions"), &request)
            .await?;
        let choice = read(&received.body)?;
        let scores = match &self.style {
            Style::LlamaGuard => llama_guard::read(&choice, &self.profile().scope.text)?,
            Style::Policy { .. } => policy::read(&choice, question.categories)?,
        };
        Ok(Said {
            scores,
            body: received.body,
            spent: received.spent,
        })
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
    fn content(&self) -> Result<&str, ProviderError> {
        let content = self.message.content.as_deref();
        content.ok_or(ProviderError::Malformed("no content"))
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
