//! Google Cloud Natural Language's text moderation, `POST {base}/v2/documents:moderateText`.
//!
//! Source: Google's published description of the API, version 2. It answers with a confidence for
//! each of its categories, and says whether it knows the text's language. If it does not, nothing
//! is scored. Its `Toxic` and `Insult` are harassment here.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use domain::score::{Category, Scores};
use serde::Deserialize;
use serde_json::json;

use super::{
    Answer, Content, ProviderError, Question, RemoteProvider,
    remote::Remote,
    transport::{Transport, highest, parsed},
};

/// The service, and our key to it.
pub struct NaturalLanguage {
    transport: Transport,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    /// All of its categories, for every text.
    moderation_categories: Vec<Confidence>,
    /// proto3 leaves false out of JSON.
    #[serde(default)]
    language_supported: bool,
}

#[derive(Deserialize)]
struct Confidence {
    name: String,
    /// proto3 leaves 0 out of JSON.
    #[serde(default)]
    confidence: f64,
}

impl NaturalLanguage {
    /// The categories that it can score in texts.
    pub const CATEGORIES: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::Harassment,
        Category::Illicit,
    ];
    /// Its URL.
    pub const URL: &str = "https://language.googleapis.com";
    /// The header that has the key.
    pub const KEY_HEADER: &str = "x-goog-api-key";
    /// Bytes of text in one request. It charges by thousand characters.
    pub const PIECE_BYTES: usize = 8_000;

    /// The service at `remote`, whose URL is the base.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(remote: Remote) -> Result<Self, ProviderError> {
        Ok(Self {
            transport: Transport::new(remote, "natural_language")?,
        })
    }
}

impl RemoteProvider for NaturalLanguage {
    fn transport(&self) -> &Transport {
        &self.transport
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let Content::Text(text) = question.content else {
            return Ok(Answer::default());
        };
        let request = json!({ "document": { "type": "PLAIN_TEXT", "content": text } });
        let url = self.transport.at("/v2/documents:moderateText");
        let received = self.transport.post(url, &request).await?;
        received.answer(|body| read(body, &self.transport.profile().scope.text))
    }
}

/// Reads a confidence for all names of these categories.
fn read(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let response: Response = parsed(body)?;
    if !response.language_supported {
        return Ok(Scores::default());
    }
    let mut told: BTreeMap<&str, f64> = BTreeMap::new();
    for Confidence { name, confidence } in &response.moderation_categories {
        let highest = told.entry(name).or_insert(*confidence);
        *highest = highest.max(*confidence);
    }
    let mut scores = Scores::default();
    for category in categories {
        let named = names(*category).iter().map(|name| told.get(name).copied());
        let named: Option<Vec<f64>> = named.collect();
        let named = named.ok_or(ProviderError::Malformed("a category is missing"))?;
        if !named.is_empty() {
            scores.set(*category, highest(named)?);
        }
    }
    Ok(scores)
}

/// Their categories for one of ours.
const fn names(ours: Category) -> &'static [&'static str] {
    match ours {
        Category::Adult => &["Sexual"],
        Category::Violence => &["Violent"],
        Category::Hate => &["Derogatory"],
        Category::Harassment => &["Toxic", "Insult"],
        Category::Illicit => &["Illicit Drugs"],
        Category::SelfHarm | Category::SexualMinors | Category::Spam => &[],
    }
}
