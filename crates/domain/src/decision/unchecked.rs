//! What could not be checked. The texts tell the tenant what is missing, and nothing about our
//! internals.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    id::RuleGroupId,
    media::{Modality, named_set},
    score::Category,
};

/// Something that was not checked and that every decision must report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Unchecked {
    /// A provider failed for good.
    ProviderFailed {
        /// Its name, shown to the tenant.
        provider: String,
        /// The part that it should have analysed.
        #[serde(default)]
        modality: Modality,
        /// What happened, for the trace only.
        detail: String,
    },
    /// The image could not be fetched or read, so nothing could look at it.
    ImageNotAnalysed {
        /// Why.
        problem: ImageProblem,
    },
    /// Providers that list these categories were asked for them, but left them out of their
    /// answers.
    CategoriesNotScored {
        /// Of the text, or of the image.
        modality: Modality,
        /// In document order.
        categories: Vec<Category>,
    },
    /// Providers looked at the text and could score none of it, for instance because of its
    /// language.
    TextNotScored,
    /// Providers looked at the image and could score none of it.
    ImageNotScored,
    /// There is a text, and no rule and no provider examined it.
    TextNotExamined,
    /// There is an image, and no rule and no provider examined it.
    ImageNotExamined,
    /// A rule group costs more memory or time than a group may, so it judged nothing.
    RulesTooHeavy {
        /// The group.
        group: RuleGroupId,
        /// Its name, shown to the tenant.
        name: String,
    },
}

impl Unchecked {
    /// The kind in one word: the `what` of its JSON.
    pub const fn what(&self) -> &'static str {
        match self {
            Self::ProviderFailed { .. } => "provider_failed",
            Self::ImageNotAnalysed { .. } => "image_not_analysed",
            Self::CategoriesNotScored { .. } => "categories_not_scored",
            Self::TextNotScored => "text_not_scored",
            Self::ImageNotScored => "image_not_scored",
            Self::TextNotExamined => "text_not_examined",
            Self::ImageNotExamined => "image_not_examined",
            Self::RulesTooHeavy { .. } => "rules_too_heavy",
        }
    }

    pub(super) const fn concerns_image(&self) -> bool {
        match self {
            Self::ImageNotAnalysed { .. }
            | Self::ImageNotScored
            | Self::ImageNotExamined
            | Self::CategoriesNotScored {
                modality: Modality::Image,
                ..
            }
            | Self::ProviderFailed {
                modality: Modality::Image,
                ..
            } => true,
            Self::CategoriesNotScored {
                modality: Modality::Text,
                ..
            }
            | Self::ProviderFailed {
                modality: Modality::Text,
                ..
            }
            | Self::TextNotScored
            | Self::TextNotExamined
            | Self::RulesTooHeavy { .. } => false,
        }
    }
}

named_set! {
    /// Why an image could not be analysed. Coarse on purpose: a finer answer would let a tenant map
    /// our network.
    ImageProblem {
        /// It could not be fetched from its URL, or must not be fetched.
        NotFetched = "not_fetched",
        /// It exceeds the limit of bytes or pixels, or decoding the animation exceeds the limit.
        TooLarge = "too_large",
        /// Its format is not supported.
        Unsupported = "unsupported",
        /// It is damaged. For an animation: at least one frame is damaged.
        Undecodable = "undecodable",
    }
}

/// A clause for the reason, without a full stop.
impl fmt::Display for Unchecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ProviderFailed {
                provider, modality, ..
            } => match modality {
                Modality::Text => write!(f, "the analysis by `{provider}` failed"),
                Modality::Image => write!(f, "the analysis of the image by `{provider}` failed"),
            },
            Self::ImageNotAnalysed { problem } => f.write_str(match problem {
                ImageProblem::NotFetched => "the image could not be fetched",
                ImageProblem::TooLarge => "the image is too large in bytes, pixels or frames",
                ImageProblem::Unsupported => "the image has an unsupported format",
                ImageProblem::Undecodable => "the image could not be decoded",
            }),
            Self::CategoriesNotScored {
                modality,
                categories,
            } => {
                let names: Vec<_> = categories.iter().map(|name| format!("`{name}`")).collect();
                let names = names.join(", ");
                write!(f, "no provider scored the {modality} for {names}")
            }
            Self::TextNotScored => f.write_str("no provider could score the text"),
            Self::ImageNotScored => f.write_str("no provider could score the image"),
            Self::TextNotExamined => f.write_str("no rule and no provider examined the text"),
            Self::ImageNotExamined => f.write_str("no rule and no provider examined the image"),
            Self::RulesTooHeavy { name, .. } => write!(
                f,
                "the rule group `{name}` needs too much memory or time; publish a version with smaller rules"
            ),
        }
    }
}

/// What no provider scored of a text or an image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingScores {
    /// Which of the two.
    pub modality: Modality,
    /// The wanted categories without a score, although no provider failed that could have scored
    /// them.
    pub unscored: Vec<Category>,
    /// The unscored categories that a provider lists and was asked for, but left out of its answer.
    pub left_out: Vec<Category>,
}

impl MissingScores {
    /// Whether everything that was wanted has a score, or a provider failed that could have scored it.
    pub fn is_empty(&self) -> bool {
        self.unscored.is_empty() && self.left_out.is_empty()
    }

    /// Adds what must be reported as unchecked, if rules want these categories. Others of the same part may be there,
    /// because the request wanted them.
    pub(super) fn add_unchecked(&self, wanted: &[Category], unchecked: &mut Vec<Unchecked>) {
        let mut missing = both(&self.left_out, wanted);
        let known = unchecked.iter_mut().find_map(|unchecked| {
            if let Unchecked::CategoriesNotScored {
                modality,
                categories,
            } = unchecked
                && *modality == self.modality
            {
                return Some(categories);
            }
            None
        });
        if let Some(known) = known {
            missing.append(known);
            *known = both(Category::ALL.as_slice(), &missing);
        } else if !missing.is_empty() {
            unchecked.push(Unchecked::CategoriesNotScored {
                modality: self.modality,
                categories: missing,
            });
        }
    }
}

/// Categories that a rule wants and that have no score, for each part of the content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unscored {
    /// Of the text.
    pub text: Vec<Category>,
    /// Of the image.
    pub image: Vec<Category>,
}

impl Unscored {
    pub(super) fn of(gaps: &[MissingScores], wanted: &[Category]) -> Self {
        let mut unscored = Self::default();
        for missing in gaps {
            let part = match missing.modality {
                Modality::Text => &mut unscored.text,
                Modality::Image => &mut unscored.image,
            };
            part.extend(both(&missing.unscored, wanted));
        }
        unscored
    }

    /// Those of the text and of the image together.
    pub(super) fn all(&self) -> Vec<Category> {
        Category::ALL
            .into_iter()
            .filter(|category| self.text.contains(category) || self.image.contains(category))
            .collect()
    }
}

/// What is in both, in document order.
fn both(some: &[Category], others: &[Category]) -> Vec<Category> {
    let all = Category::ALL.into_iter();
    all.filter(|category| some.contains(category) && others.contains(category))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_the_one_of_the_json() {
        for unchecked in [
            Unchecked::ProviderFailed {
                provider: "openai".to_owned(),
                modality: Modality::Image,
                detail: String::new(),
            },
            Unchecked::ImageNotAnalysed {
                problem: ImageProblem::TooLarge,
            },
            Unchecked::CategoriesNotScored {
                modality: Modality::Text,
                categories: vec![Category::Adult],
            },
            Unchecked::TextNotScored,
            Unchecked::ImageNotScored,
            Unchecked::TextNotExamined,
            Unchecked::ImageNotExamined,
            Unchecked::RulesTooHeavy {
                group: uuid::Uuid::nil().into(),
                name: "house rules".to_owned(),
            },
        ] {
            let json = serde_json::to_value(&unchecked).unwrap();
            assert_eq!(json["what"], unchecked.what());
        }
    }

    #[test]
    fn a_failure_that_was_stored_before_images_were_analysed_was_one_of_the_text() {
        let stored = r#"{"what":"provider_failed","provider":"openai","detail":""}"#;
        let unchecked: Unchecked = serde_json::from_str(stored).unwrap();
        assert!(!unchecked.concerns_image());
        assert_eq!(unchecked.to_string(), "the analysis by `openai` failed");
    }
}
