//! The analyser that needs no network and no key: [`domain::builtin`], coarse but always there.

use domain::{builtin::Analyser, score::Scores};
use futures::{FutureExt as _, future::BoxFuture};

use super::{Provider, ProviderError};

/// Scores texts in this process.
#[derive(Default)]
pub struct Builtin {
    analyser: Analyser,
}

impl Provider for Builtin {
    fn name(&self) -> &'static str {
        "builtin"
    }

    fn analyse<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<Scores, ProviderError>> {
        let scores = self.analyser.analyse(text);
        std::future::ready(Ok(scores)).boxed()
    }
}
