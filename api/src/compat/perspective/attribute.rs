//! Perspective's attributes, and what of our scores means the same.

use domain::score::Category;

use super::super::submit_and_wait::Judged;

/// What an attribute is made of: the highest score of these categories. Without any, we have nothing that means the same.
const ATTRIBUTES: [(&str, &[Category]); 17] = [
    ("TOXICITY", &[Category::Harassment, Category::Hate]),
    ("IDENTITY_ATTACK", &[Category::Hate]),
    ("INSULT", &[Category::Harassment]),
    ("THREAT", &[Category::Violence]),
    ("SEXUALLY_EXPLICIT", &[Category::Adult]),
    ("SPAM", &[Category::Spam]),
    ("SEVERE_TOXICITY", &[]),
    ("PROFANITY", &[]),
    ("TOXICITY_FAST", &[]),
    ("FLIRTATION", &[]),
    ("ATTACK_ON_AUTHOR", &[]),
    ("ATTACK_ON_COMMENTER", &[]),
    ("INCOHERENT", &[]),
    ("INFLAMMATORY", &[]),
    ("LIKELY_TO_REJECT", &[]),
    ("OBSCENE", &[]),
    ("UNSUBSTANTIAL", &[]),
];

/// An attribute that a client can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attribute(&'static [Category]);

impl Attribute {
    /// By its name, which may end with a version (`TOXICITY@6`) or say that it is an experiment.
    pub(super) fn named(name: &str) -> Option<Self> {
        let name = name.split('@').next().unwrap_or_default();
        let name = name.strip_suffix("_EXPERIMENTAL").unwrap_or(name);
        let (_, of) = ATTRIBUTES.iter().find(|(known, _)| *known == name)?;
        Some(Self(of))
    }

    /// Whether we have something that means the same.
    pub(super) fn has_categories(self) -> bool {
        !self.0.is_empty()
    }

    /// The names of those that can be scored.
    pub(super) fn scored() -> Vec<&'static str> {
        let scored = ATTRIBUTES.iter().filter(|(_, of)| !of.is_empty());
        scored.map(|(name, _)| *name).collect()
    }

    /// Its score. None: we have nothing that means the same, or one of its categories was not checked.
    pub(super) fn score(self, judged: &Judged) -> Option<f64> {
        let scores: Option<Vec<f64>> = self.0.iter().map(|of| judged.score(*of)).collect();
        scores?.into_iter().reduce(f64::max)
    }
}
