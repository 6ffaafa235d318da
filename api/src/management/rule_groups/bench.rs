//! Where rules are compiled and tried: on threads of their own, a few at a time, so that ten thousand keywords delay nobody
//! else's request.

use std::{sync::Arc, time::Duration};

use domain::{
    decision::Unchecked,
    rules::{CompiledGroup, Rule},
    score::{Category, Scores},
};
use futures::future::BoxFuture;
use store::rule_group::NewVersion;
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};
use uuid::Uuid;

use crate::problem::Refusal;

/// How many are at work at once.
const SLOTS: usize = 2;
/// How many texts are analysed at once: each costs calls to providers, and whoever may edit rules can ask for it.
const ASKING: usize = 4;
/// How long a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// What an analysis says of a text.
#[derive(Clone, Debug)]
pub struct Analysed {
    /// The scores; none when no provider could score it.
    pub scores: Option<Scores>,
    /// What could not be checked.
    pub unchecked: Vec<Unchecked>,
}

/// Has a text analysed, as the workers have it, for these categories, so that rules can be tried with its scores.
pub type Analyse = Arc<dyn Fn(String, Vec<Category>) -> BoxFuture<'static, Analysed> + Send + Sync>;

/// The bench. Clones are the same one.
#[derive(Clone)]
pub struct Bench {
    slots: Arc<Semaphore>,
    asking: Arc<Semaphore>,
    analyse: Option<Analyse>,
}

/// Rules that compile.
pub(super) struct Compiled {
    pub(super) rules: Vec<Rule>,
    pub(super) group: CompiledGroup,
}

impl Compiled {
    /// As they are stored.
    pub(super) fn version(&self) -> NewVersion<'_> {
        NewVersion {
            rules: &self.rules,
            categories: self.group.categories(),
        }
    }
}

impl Bench {
    /// A bench whose texts are analysed so; without, rules are tried with the scores that a request brings.
    pub fn new(analyse: Option<Analyse>) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(SLOTS)),
            asking: Arc::new(Semaphore::new(ASKING)),
            analyse,
        }
    }

    /// What the providers say of a text; none if none can be asked from here.
    ///
    /// # Errors
    /// Too many texts are being analysed.
    pub(super) async fn analyse(
        &self,
        text: &str,
        wanted: &[Category],
    ) -> Result<Option<Analysed>, Refusal> {
        let Some(analyse) = &self.analyse else {
            return Ok(None);
        };
        let Ok(Ok(_turn)) = timeout(PATIENCE, self.asking.acquire()).await else {
            return Err(Refusal::overloaded());
        };
        Ok(Some(analyse(text.to_owned(), wanted.to_vec()).await))
    }

    /// Compiles rules.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub(super) async fn compile(&self, rules: Vec<Rule>) -> Result<Compiled, Refusal> {
        let nobody = Uuid::nil();
        self.work(move || {
            let group = CompiledGroup::compile(nobody.into(), nobody.into(), &rules)
                .map_err(|errors| Refusal::from(&errors))?;
            Ok(Compiled { rules, group })
        })
        .await?
    }

    /// Does what takes a while.
    pub(super) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let slot = timeout(PATIENCE, Arc::clone(&self.slots).acquire_owned()).await;
        let Ok(Ok(slot)) = slot else {
            return Err(Refusal::overloaded());
        };
        // Whoever goes away leaves his work to its end, and its slot is taken as long.
        let working = spawn_blocking(move || {
            let done = work();
            drop(slot);
            done
        });
        working.await.map_err(|_| Refusal::internal())
    }
}
