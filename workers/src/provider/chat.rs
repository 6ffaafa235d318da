//! Models behind an OpenAI-compatible chat endpoint, `POST {base}/v1/chat/completions` or at
//! another path: vLLM, Ollama, llama.cpp, OpenAI, Mistral, `OpenRouter`, Gemini, Claude and others.
//! Servers know different parts of OpenAI's interface. [`ChatSettings`] says which parts are used.
//!
//! A *style* is how a model is asked and how its answer is read. Each style has a file.

mod llama_guard;
mod policy;
mod response;
mod settings;

use domain::{image::ImageFormat, media::Modality, score::Category};
use futures::{FutureExt as _, future::BoxFuture};
use serde_json::{Value, json};

use self::response::read;
pub use self::settings::{AnswerFormat, ChatSettings, MostTokens, Style};
use super::{
    Answer, Content, IMAGE_SIDE, Profile, Provider, ProviderError, Question, cost::TOKENS,
    remote::Remote, transport::Transport,
};
use crate::picture::Limits;

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
        let looks = !remote.scope.image.is_empty();
        let transport = Transport::new(remote, kind)?
            .telling(TOKENS)
            .depending_on(&model)
            .depending_on(&format!("{style:?}"))
            .depending_on(&format!("{settings:?}"));
        Ok(Self {
            transport: if looks {
                transport.with_images(LIMITS)
            } else {
                transport
            },
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
        let choice = read(&received.body)?;
        let scores = match &self.style {
            Style::LlamaGuard => llama_guard::read(&choice, &self.profile().scope.text)?,
            Style::Policy { .. } => policy::read(&choice, question.categories, format)?,
        };
        Ok(received.answer(scores))
    }
}

impl Provider for Chat {
    fn profile(&self) -> &Profile {
        self.transport.profile()
    }

    fn analyse<'a>(
        &'a self,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<Answer, ProviderError>> {
        self.ask(question).boxed()
    }
}
