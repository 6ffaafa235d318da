//! The analyser that needs no network and no key: [`domain::builtin`], coarse but always there.

use domain::{
    builtin::{Analyser, CATEGORIES},
    score::Category,
};
use futures::{FutureExt as _, future::BoxFuture};

use super::{Access, Answer, Provider, ProviderError, Question};

/// Scores texts in this process.
pub struct Builtin {
    name: String,
    categories: Vec<Category>,
    analyser: Analyser,
}

impl Builtin {
    /// What it can score.
    pub const CATEGORIES: &[Category] = &CATEGORIES;

    /// The analyser under a name, for some of what it can score.
    pub fn new(name: String, categories: Vec<Category>) -> Self {
        Self {
            name,
            categories,
            analyser: Analyser::new(),
        }
    }
}

impl Provider for Builtin {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static str {
        "builtin"
    }

    fn categories(&self) -> &[Category] {
        &self.categories
    }

    fn access(&self) -> Option<&Access> {
        None
    }

    fn analyse<'a>(
        &'a self,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<Answer, ProviderError>> {
        let found = self.analyser.analyse(question.text);
        let scores = found.iter();
        let scores = scores.filter(|(category, _)| self.categories.contains(category));
        let answer = Answer {
            scores: scores.collect(),
            ..Answer::default()
        };
        std::future::ready(Ok(answer)).boxed()
    }
}
