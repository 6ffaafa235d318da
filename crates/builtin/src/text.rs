//! Models that score English texts in five categories.

mod encoder;
mod features;
mod linear;
mod normalize;
mod wordpiece;

use std::sync::LazyLock;

pub use encoder::Encoder;
pub use linear::{Linear, Scored};

/// The linear model whose file is part of the program. It is read at the first call, which takes a
/// few milliseconds, and stays in memory (3 MB).
///
/// # Panics
/// Never: a test reads the file.
pub fn linear() -> &'static Linear {
    static LINEAR: LazyLock<Linear> = LazyLock::new(|| {
        Linear::read(include_bytes!("../text/linear.clf")).expect("a test reads this file")
    });
    &LINEAR
}

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
const CATEGORIES: usize = 5;

impl TextScores {
    /// In each category the higher score of the two.
    #[must_use]
    pub fn or_higher(self, other: Self) -> Self {
        self.with(other, f32::max)
    }

    /// In each category what `of` makes of the scores of the two.
    pub(crate) fn with(self, other: Self, of: impl Fn(f32, f32) -> f32) -> Self {
        Self {
            sexual: of(self.sexual, other.sexual),
            hate: of(self.hate, other.hate),
            violence: of(self.violence, other.violence),
            self_harm: of(self.self_harm, other.self_harm),
            harassment: of(self.harassment, other.harassment),
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
    fn from_logits(logits: [f32; CATEGORIES]) -> Self {
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
