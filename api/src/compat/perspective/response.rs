//! The answer.

use std::collections::BTreeMap;

use api_common::{Code, Refusal};
use serde::Serialize;

use super::{
    super::submit_and_wait::{Item, Judged},
    Span,
    error::Failed,
    request::{Rest, Wish},
};

/// The whole answer. Empty members are left out, as in Google's JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Analysis {
    attribute_scores: BTreeMap<String, Scores>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    languages: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_token: Option<String>,
    gatehouse: Own,
}

/// What only we say.
#[derive(Debug, Serialize)]
struct Own {
    #[serde(flatten)]
    item: Item,
    /// Attributes without a score: no category of ours means the same, or it was not checked.
    unscored: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Scores {
    summary_score: Score,
    span_scores: Vec<SpanScore>,
}

#[derive(Debug, Serialize)]
struct SpanScore {
    begin: usize,
    end: usize,
    score: Score,
}

#[derive(Debug, Serialize)]
struct Score {
    value: f64,
    #[serde(rename = "type")]
    kind: &'static str,
}

impl From<f64> for Score {
    fn from(value: f64) -> Self {
        Self {
            value,
            kind: "PROBABILITY",
        }
    }
}

impl Analysis {
    /// From the verdicts on the text and on its sentences.
    ///
    /// # Errors
    /// None of the attributes has a score.
    pub(super) fn of(asked: Rest, judged: &[Judged]) -> Result<Self, Failed> {
        let (whole, sentences) = judged.split_first().ok_or_else(Refusal::internal)?;
        let mut attribute_scores = BTreeMap::new();
        let mut unscored = Vec::new();
        let count = asked.attributes.len();
        let mut unread = None;
        for (
            name,
            Wish {
                attribute,
                threshold,
            },
        ) in asked.attributes
        {
            let Some(score) = attribute.score(whole) else {
                if attribute.has_categories() {
                    unread.get_or_insert_with(|| name.clone());
                }
                unscored.push(name);
                continue;
            };
            if score < threshold {
                continue;
            }
            let mut parts: Vec<(Span, f64)> = asked
                .spans
                .iter()
                .zip(sentences)
                .filter_map(|(span, judged)| Some((*span, attribute.score(judged)?)))
                .collect();
            if parts.is_empty() {
                parts.push((asked.whole, score));
            }
            let spans = parts.into_iter().map(|(span, score)| SpanScore {
                begin: span.begin,
                end: span.end,
                score: score.into(),
            });
            let scores = Scores {
                summary_score: score.into(),
                span_scores: spans.collect(),
            };
            attribute_scores.insert(name, scores);
        }
        if unscored.len() == count {
            return Err(match unread {
                None => {
                    let message =
                        "has no attribute that can be scored: no category means the same";
                    Refusal::invalid_field("requestedAttributes", message).into()
                }
                Some(_) if whole.has_failed_provider() => Refusal::new(
                    Code::NotChecked,
                    "A provider has failed, so the text has no scores. It is stored, and its status says what follows.",
                )
                .into(),
                Some(attribute) => Failed::Unread {
                    attribute,
                    languages: asked.languages,
                    item: Box::new(Item::from(whole)),
                },
            });
        }
        Ok(Self {
            attribute_scores,
            languages: asked.languages,
            client_token: asked.client_token,
            gatehouse: Own {
                item: Item::from(whole),
                unscored,
            },
        })
    }
}
