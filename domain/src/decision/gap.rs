//! What an analysis left open.

use serde::{Deserialize, Serialize};

use super::Unchecked;
use crate::media::Modality;
use crate::score::Category;

/// What no provider scored of a text or an image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// Which of the two.
    pub modality: Modality,
    /// The categories that were wanted and have no score, although no provider failed that could have scored them.
    pub unscored: Vec<Category>,
    /// Of those, the ones that a provider lists and was asked for. Its answer left them out.
    pub left_out: Vec<Category>,
}

impl Gap {
    /// What of this may not be passed over in silence, if rules want these categories.
    pub(super) fn unchecked(&self, wanted: &[Category]) -> Option<Unchecked> {
        let categories = both(&self.left_out, wanted);
        (!categories.is_empty()).then_some(Unchecked::CategoriesNotScored {
            modality: self.modality,
            categories,
        })
    }
}

/// Categories that a rule wants and that have no score, of each part of the content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Unscored {
    /// Of the text.
    pub text: Vec<Category>,
    /// Of the image.
    pub image: Vec<Category>,
}

impl Unscored {
    pub(super) fn of(gaps: &[Gap], wanted: &[Category]) -> Self {
        let mut unscored = Self::default();
        for gap in gaps {
            let part = match gap.modality {
                Modality::Text => &mut unscored.text,
                Modality::Image => &mut unscored.image,
            };
            part.extend(both(&gap.unscored, wanted));
        }
        unscored
    }

    /// Of either.
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
