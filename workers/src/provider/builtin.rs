//! The built-in analyser, [`domain::builtin`]. It is coarse, but needs no network and no key.

use std::sync::Arc;

use domain::{
    builtin::{Analyser, CATEGORIES},
    score::{Category, Scores},
};
use futures::{FutureExt as _, future::BoxFuture};

use super::{Answer, Content, Profile, Provider, ProviderError, Question, Scope};

/// Scores texts in this process.
pub struct Builtin {
    profile: Profile,
    analyser: Analyser,
}

impl Builtin {
    /// The categories that it can score in texts.
    pub const CATEGORIES: &[Category] = &CATEGORIES;

    /// The analyser under this name, for these categories.
    pub fn new(name: String, categories: Vec<Category>) -> Self {
        Self {
            profile: Profile {
                name,
                kind: "builtin",
                scope: Scope {
                    text: categories,
                    image: Vec::new(),
                },
                limits: None,
                piece_bytes: usize::MAX,
                told: &[],
                tally: Arc::default(),
                access: None,
            },
            analyser: Analyser::new(),
        }
    }
}

impl Provider for Builtin {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn analyse<'a>(
        &'a self,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<Answer, ProviderError>> {
        let scores = match question.content {
            Content::Text(text) => self.analyser.analyse(text),
            Content::Image(_) => Scores::default(),
        };
        let ours = &self.profile.scope.text;
        let scores = scores
            .iter()
            .filter(|(category, _)| ours.contains(category));
        let answer = Answer {
            scores: scores.collect(),
            ..Answer::default()
        };
        std::future::ready(Ok(answer)).boxed()
    }
}
