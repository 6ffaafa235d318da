//! How a model is asked, and which parts of OpenAI's interface its server knows.

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
