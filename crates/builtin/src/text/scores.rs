//! What a model says about a text.

/// How likely it is that a text belongs to each category, each from 0 to 1. A text can belong to
/// several categories or to none, so they do not add up to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TextScores {
    /// Sexual content.
    pub sexual: f32,
    /// Hatred of people for what they are: origin, religion, sex, disability.
    pub hate: f32,
    /// Violence against people: threats, calls for it, graphic descriptions. The weakest category of
    /// both models.
    pub violence: f32,
    /// Suicide and injury of oneself: intent, encouragement, instructions.
    pub self_harm: f32,
    /// Insults and threats against a person.
    pub harassment: f32,
}

/// The number of categories.
pub(super) const CATEGORIES: usize = 5;

impl TextScores {
    /// In each category the higher score of the two.
    #[must_use]
    pub fn or_higher(self, other: Self) -> Self {
        Self {
            sexual: self.sexual.max(other.sexual),
            hate: self.hate.max(other.hate),
            violence: self.violence.max(other.violence),
            self_harm: self.self_harm.max(other.self_harm),
            harassment: self.harassment.max(other.harassment),
        }
    }

    /// The highest score.
    pub fn highest(self) -> f32 {
        self.to_array().into_iter().fold(0.0, f32::max)
    }

    /// The numbers in the order of the members, which is the order in the files.
    pub fn to_array(self) -> [f32; CATEGORIES] {
        let Self {
            sexual,
            hate,
            violence,
            self_harm,
            harassment,
        } = self;
        [sexual, hate, violence, self_harm, harassment]
    }

    /// From what a model says before the logistic function, in the order of the members.
    pub(super) fn from_logits(logits: [f32; CATEGORIES]) -> Self {
        let [sexual, hate, violence, self_harm, harassment] = logits.map(probability);
        Self {
            sexual,
            hate,
            violence,
            self_harm,
            harassment,
        }
    }
}

/// The logistic function.
fn probability(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}
