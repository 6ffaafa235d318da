//! The result of an analysis: a score for each category that could be scored, and nothing for the
//! others.
//!
//! A category that nothing could score is absent. It is never 0, because 0 means "checked, and
//! found nothing".

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, Visitor},
    ser::SerializeMap,
};

use crate::media::named_enum;

named_enum! {
    /// What content can be objectionable for. The order here is the order in every document.
    Category {
        /// Sexual content.
        Adult = "adult",
        /// Threats, glorified or graphic violence.
        Violence = "violence",
        /// Hatred of people for what they are.
        Hate = "hate",
        /// Suicide and self-injury.
        SelfHarm = "self_harm",
        /// Attacks on a person.
        Harassment = "harassment",
        /// Sexual content that involves minors.
        SexualMinors = "sexual_minors",
        /// Trade in forbidden things, or instructions for them.
        Illicit = "illicit",
        /// Unsolicited advertising and fraud.
        Spam = "spam",
    }
}

impl Category {
    /// Every category, in document order.
    pub const ALL: [Self; 8] = [
        Self::Adult,
        Self::Violence,
        Self::Hate,
        Self::SelfHarm,
        Self::Harassment,
        Self::SexualMinors,
        Self::Illicit,
        Self::Spam,
    ];

    const fn index(self) -> usize {
        self as usize
    }
}

/// Scores from 0 to 1 by category. Serialised as a JSON object in the order of [`Category::ALL`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Scores([Option<f64>; Category::ALL.len()]);

impl Scores {
    /// No category scored yet.
    pub const fn new() -> Self {
        Self([None; Category::ALL.len()])
    }

    /// Sets a category's score, clamped to 0..=1. NaN is not a score: it changes nothing.
    pub fn set(&mut self, category: Category, score: f64) {
        if !score.is_nan() {
            self.0[category.index()] = Some(score.clamp(0.0, 1.0));
        }
    }

    /// The score of a category, or `None` where nothing could score it.
    pub fn get(&self, category: Category) -> Option<f64> {
        self.0[category.index()]
    }

    /// Raises every category to the other's score if that one is higher, or is the only one.
    pub fn merge_max(&mut self, other: &Self) {
        for (category, score) in other.iter() {
            if self.get(category).is_none_or(|own| own < score) {
                self.set(category, score);
            }
        }
    }

    /// The scored categories, in document order.
    pub fn iter(&self) -> impl Iterator<Item = (Category, f64)> + '_ {
        Category::ALL
            .into_iter()
            .filter_map(|category| Some((category, self.get(category)?)))
    }

    /// Whether no category is scored.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

impl FromIterator<(Category, f64)> for Scores {
    fn from_iter<I: IntoIterator<Item = (Category, f64)>>(scores: I) -> Self {
        let mut all = Self::new();
        for (category, score) in scores {
            all.set(category, score);
        }
        all
    }
}

impl Serialize for Scores {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (category, score) in self.iter() {
            map.serialize_entry(&category, &score)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Scores {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ByCategory;

        impl<'de> Visitor<'de> for ByCategory {
            type Value = Scores;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of category names and scores from 0 to 1")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scores, A::Error> {
                let mut scores = Scores::new();
                while let Some((category, score)) = map.next_entry::<Category, f64>()? {
                    if !(0.0..=1.0).contains(&score) {
                        return Err(A::Error::custom(format!(
                            "the score of `{category}` is outside 0..=1"
                        )));
                    }
                    scores.set(category, score);
                }
                Ok(scores)
            }
        }

        deserializer.deserialize_map(ByCategory)
    }
}

#[cfg(test)]
mod tests;
