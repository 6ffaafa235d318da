//! What an analysis could not score.

use serde::{Deserialize, Serialize};

use super::Unchecked;
use crate::media::Modality;
use crate::score::Category;

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
