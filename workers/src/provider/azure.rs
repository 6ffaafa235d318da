//! Azure AI Content Safety: `POST {endpoint}/contentsafety/text:analyze` and `image:analyze`.
//!
//! Source: Microsoft's published description of the API, version 2024-09-01. It answers with
//! severities: 0 to 7 for texts, and 0, 2, 4 or 6 for images, on the same scale. A score is the
//! severity divided by 6, at most 1. Its `Hate` includes what we call harassment without
//! distinguishing it, so harassment is absent.

#[cfg(test)]
mod tests;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    image::ImageFormat,
    score::{Category, Scores},
};
use picture::Limits;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    Answer, Content, IMAGE_SIDE, ProviderError, Question, RemoteProvider,
    remote::Remote,
    transport::{Transport, parsed},
};

/// The version of the API.
const VERSION: &str = "api-version=2024-09-01";
/// The highest severity of an image. Texts count as high from this severity. Their scale is finer.
const WORST: u8 = 6;
/// The highest severity of a text.
const HIGHEST: u8 = 7;

/// The images that it takes. Its documentation says 7,200 pixels in one place and 2,048 in another.
const LIMITS: Limits = Limits {
    bytes: 4 << 20,
    min_side: 50,
    max_side: IMAGE_SIDE,
    formats: &[
        ImageFormat::Jpeg,
        ImageFormat::Png,
        ImageFormat::Gif,
        ImageFormat::Webp,
    ],
};

/// A resource of Azure's, and our key to it.
pub struct Azure {
    transport: Transport,
}

/// Its categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Harm {
    Hate,
    #[serde(rename = "SelfHarm")]
    Injury,
    Sexual,
    Violence,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    categories_analysis: Vec<Finding>,
}

#[derive(Deserialize)]
struct Finding {
    category: Harm,
    severity: u8,
}

impl Azure {
    /// The categories that it can score, in texts and in images.
    pub const CATEGORIES: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::SelfHarm,
    ];
    /// The header that has the key.
    pub const KEY_HEADER: &str = "Ocp-Apim-Subscription-Key";
    /// Bytes of text in one request. It takes 10,000 code points, and a code point has at least a
    /// byte.
    pub const PIECE_BYTES: usize = 10_000;

    /// The resource at `remote`, whose URL is its endpoint.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(remote: Remote) -> Result<Self, ProviderError> {
        Ok(Self {
            transport: Transport::new(remote, "azure")?.with_images(LIMITS),
        })
    }
}

impl RemoteProvider for Azure {
    fn transport(&self) -> &Transport {
        &self.transport
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let harms: Vec<Harm> = question
            .categories
            .iter()
            .filter_map(|category| Harm::of(*category))
            .collect();
        let (what, request) = match question.content {
            Content::Text(text) => {
                let request = json!({
                    "text": text,
                    "categories": harms,
                    "outputType": "EightSeverityLevels",
                });
                ("text", request)
            }
            Content::Image(image) => {
                let request = json!({
                    "image": { "content": STANDARD.encode(&image.bytes) },
                    "categories": harms,
                    "outputType": "FourSeverityLevels",
                });
                ("image", request)
            }
        };
        let mut url = self.transport.at(&format!("/contentsafety/{what}:analyze"));
        url.set_query(Some(VERSION));
        let received = self.transport.post(url, &request).await?;
        received.answer(|body| read(body, &harms))
    }
}

impl Harm {
    /// Its category for one of ours.
    fn of(ours: Category) -> Option<Self> {
        match ours {
            Category::Adult => Some(Self::Sexual),
            Category::Violence => Some(Self::Violence),
            Category::Hate => Some(Self::Hate),
            Category::SelfHarm => Some(Self::Injury),
            Category::Harassment | Category::SexualMinors | Category::Illicit | Category::Spam => {
                None
            }
        }
    }

    fn ours(self) -> Category {
        match self {
            Self::Sexual => Category::Adult,
            Self::Violence => Category::Violence,
            Self::Hate => Category::Hate,
            Self::Injury => Category::SelfHarm,
        }
    }
}

/// Reads exactly one severity for each of these.
fn read(body: &[u8], harms: &[Harm]) -> Result<Scores, ProviderError> {
    let findings = parsed::<Response>(body)?.categories_analysis;
    let asked = harms
        .iter()
        .all(|harm| findings.iter().any(|finding| finding.category == *harm));
    if !asked || findings.len() != harms.len() {
        return Err(ProviderError::Malformed(
            "not the categories that were asked for",
        ));
    }
    findings
        .into_iter()
        .map(|Finding { category, severity }| {
            if severity > HIGHEST {
                return Err(ProviderError::Malformed("a severity is not from 0 to 7"));
            }
            let score = f64::from(severity.min(WORST)) / f64::from(WORST);
            Ok((category.ours(), score))
        })
        .collect()
}
