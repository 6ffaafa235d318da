//! The trial pool compiles and tries rules, a few at a time, on its own threads. Long work loses its
//! priority, so ten thousand keywords delay nobody else's request. Teams take turns, and no team
//! has all the slots. So a team that keeps the pool busy delays another by one turn at most.

use std::{sync::Arc, time::Duration};

use cpu_pool::{BriefThreads, thread_time};
use domain::{
    decision::Unchecked,
    id::TeamId,
    rules::{CompiledGroup, InputRules, Limits, Rule, WrongRules},
    score::{Category, Scores},
};
use fair_share::{Limit, Share, Shares};
use futures::future::BoxFuture;
use store::rule_group::NewVersion;
use tokio::time::timeout;
use uuid::Uuid;

use crate::Refused;

/// How many run at once, on any number of processors. Each can take the memory of a group. One team
/// can have half of them.
const SLOTS: usize = 2;
/// How many texts are analysed at once. Each costs calls to providers, and anyone who can edit
/// rules can ask for it.
const ASKING: usize = 4;
/// The processor time that most rules need. Longer work continues at a low priority.
const BRIEF: Duration = Duration::from_millis(20);
/// How long a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// What an analysis says about a text.
#[derive(Clone, Debug)]
pub struct Analysed {
    /// The scores. `None` if no provider could score it.
    pub scores: Option<Scores>,
    /// What could not be checked.
    pub unchecked: Vec<Unchecked>,
}

/// Analyses a text for these categories, in the same way as the workers, so that rules can be tried
/// with the scores.
pub type Analyse = Arc<dyn Fn(String, Vec<Category>) -> BoxFuture<'static, Analysed> + Send + Sync>;

/// The holder of slots: a team, or the operators.
pub(crate) type Holder = Option<TeamId>;

/// The trial pool. Clones are the same one.
#[derive(Clone)]
pub struct TrialPool {
    limits: Limits,
    slots: Arc<Shares<Holder>>,
    threads: Arc<BriefThreads>,
    asking: Arc<Shares<Holder>>,
    analyse: Option<Analyse>,
}

/// Rules that compile. The compiled group itself was dropped: it can be large, and the number of
/// waiting requests has no limit.
pub(crate) struct Checked {
    /// The rules.
    pub(crate) rules: Vec<Rule>,
    categories: Vec<Category>,
}

impl Checked {
    /// The form in which they are stored.
    pub(crate) fn version(&self) -> NewVersion<'_> {
        NewVersion {
            rules: &self.rules,
            categories: &self.categories,
        }
    }
}

impl TrialPool {
    /// A pool with these limits for a group. `analyse` analyses sample texts. Without it,
    /// rules can be tried only with the scores of the request.
    pub fn new(limits: Limits, analyse: Option<Analyse>) -> Self {
        Self {
            limits,
            slots: Shares::new(SLOTS),
            threads: Arc::new(BriefThreads::new("rule-bench", SLOTS)),
            asking: Shares::new(ASKING),
            analyse,
        }
    }

    /// What the providers say about a text. `None` if this process has no providers.
    ///
    /// # Errors
    /// Too many texts are being analysed.
    pub(crate) async fn analyse(
        &self,
        holder: Holder,
        text: &str,
        wanted: &[Category],
    ) -> Result<Option<Analysed>, Refused> {
        let Some(analyse) = &self.analyse else {
            return Ok(None);
        };
        let _turn = turn(&self.asking, holder).await?;
        Ok(Some(analyse(text.to_owned(), wanted.to_vec()).await))
    }

    /// The rules that an author gave. Rules without an id get one.
    ///
    /// # Errors
    /// Everything that is wrong with them, or that the holder's turn did not come in time. Only
    /// wrong rules wait for a turn.
    pub(crate) async fn rules(
        &self,
        holder: Holder,
        given: InputRules,
    ) -> Result<Vec<Rule>, Refused> {
        match with_ids(given) {
            Ok(rules) => Ok(rules),
            Err(wrong) => Err(self.refuse(holder, wrong).await),
        }
    }

    /// Lists everything that is wrong with rules. Patterns and terms are checked as well, if they
    /// could be read.
    pub(crate) async fn refuse(&self, holder: Holder, wrong: WrongRules) -> Refused {
        let limits = self.limits;
        let checking = move || Refused::from(&wrong.errors(limits, &thread_time));
        self.work(holder, checking)
            .await
            .unwrap_or_else(|late| late)
    }

    /// Whether rules compile within the limits.
    ///
    /// # Errors
    /// Everything that is wrong with them, or that the holder's turn did not come in time.
    pub(crate) async fn check(&self, holder: Holder, rules: Vec<Rule>) -> Result<Checked, Refused> {
        let limits = self.limits;
        self.work(holder, move || {
            let categories = compile(&rules, limits)?.categories().to_vec();
            Ok(Checked { rules, categories })
        })
        .await?
    }

    /// Compiles rules and does something with the group.
    ///
    /// # Errors
    /// Those of [`Self::check`] and of `work`.
    pub(crate) async fn with_compiled<T, E>(
        &self,
        holder: Holder,
        rules: Vec<Rule>,
        work: impl FnOnce(&CompiledGroup) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Refused> + Send + 'static,
    {
        let limits = self.limits;
        self.work(holder, move || work(&compile(&rules, limits)?))
            .await?
    }

    /// Runs work that takes a while.
    ///
    /// # Errors
    /// The holder's turn did not come in time.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        holder: Holder,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refused> {
        let slot = turn(&self.slots, holder).await?;
        // If the client disconnects, the work still runs to its end and keeps its slot until then.
        let working = self.threads.run(
            BRIEF,
            move || {
                let done = work();
                drop(slot);
                done
            },
            || (),
        );
        working.await.map_err(|_| Refused::Internal)
    }
}

/// The rules that an author gave. Rules without an id get a new one.
///
/// # Errors
/// There are mistakes; [`TrialPool::refuse`] lists them.
pub(crate) fn with_ids(given: InputRules) -> Result<Vec<Rule>, WrongRules> {
    given.into_rules(|| Uuid::now_v7().into())
}

async fn turn(of: &Arc<Shares<Holder>>, holder: Holder) -> Result<Share<Holder>, Refused> {
    timeout(PATIENCE, of.take(holder, 1, Limit::Fair))
        .await
        .map_err(|_| Refused::Overloaded)
}

fn compile(rules: &[Rule], limits: Limits) -> Result<CompiledGroup, Refused> {
    let nobody = Uuid::nil();
    CompiledGroup::compile_within(nobody.into(), nobody.into(), rules, limits, &thread_time)
        .map_err(|errors| Refused::from(&errors))
}
