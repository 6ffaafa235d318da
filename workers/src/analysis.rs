//! Analyse: the text goes to the first provider of its site's preference that is to be had. The next one is asked when that
//! one has failed for good or is paused, and for what it cannot score.

mod inquiry;
mod sample;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use apalis::prelude::{BoxDynError, Data};
use domain::{
    decision::Unchecked,
    id::MediaId,
    score::{Category, Scores},
};
use queue::{Finish, Run};
use store::{
    PgPool,
    analysis::{self, Analysed, Progress, ProviderReport, ToAnalyse},
    gather::Loader,
    jobs::MediaJob,
};
use tracing::warn;

use self::inquiry::Inquiry;
pub use self::sample::analyse_sample;
use crate::{
    RETRY, RUN_DEADLINE,
    provider::{Panel, Question, Reply},
};

/// What the analysis step works with.
#[derive(Clone)]
pub struct Analyst {
    media: Loader<MediaId, ToAnalyse>,
    panel: Arc<Panel>,
    patience: Duration,
}

impl Analyst {
    /// An analyst who asks these providers. Items wait `patience`, from their acceptance, for one that is paused.
    pub(crate) fn new(pool: PgPool, panel: Arc<Panel>, patience: Duration) -> Self {
        Self {
            media: analysis::loader(pool),
            panel,
            patience,
        }
    }
}

/// How long a run goes on asking: what it takes to ask, wait and end comes on top.
const ASKING: Duration = RUN_DEADLINE.saturating_sub(Duration::from_secs(5));

/// What a run leaves behind.
type Ended = Finish<Option<Progress>>;

/// Runs one job. A provider that fails makes it run again, as long as it has attempts; one that is paused makes it wait, and
/// that is no attempt. What was found is kept meanwhile. What remains unchecked in the end is noted, so that the rules and
/// the site's `on_failure` decide.
pub(crate) async fn analyse(
    job: MediaJob,
    analyst: Data<Analyst>,
    run: Run,
) -> Result<Ended, BoxDynError> {
    let Some(item) = analyst.media.load(job.media).await? else {
        return Ok(Finish::Done(None));
    };
    let Some(text) = item.text.as_deref() else {
        return Ok(done(&item, (None, Vec::new(), Vec::new())));
    };
    ask(&item, text, &analyst, run).await
}

async fn ask(
    item: &ToAnalyse,
    text: &str,
    analyst: &Analyst,
    run: Run,
) -> Result<Ended, BoxDynError> {
    let started = Instant::now();
    let mut inquiry = Inquiry::of(item);
    for name in preference(item, &analyst.panel) {
        let missing = inquiry.missing();
        if missing.is_empty() {
            break;
        }
        let Some(desk) = analyst.panel.find(name) else {
            inquiry.unknown(name);
            continue;
        };
        let categories = both(desk.categories(), &missing);
        if categories.is_empty() || inquiry.has_asked(name, desk.categories()) {
            continue;
        }
        if inquiry.is_begun() && started.elapsed() + desk.deadline() > ASKING {
            // The next run has time for it.
            return Ok(again(inquiry, Duration::ZERO));
        }
        let question = Question {
            text,
            categories: &categories,
            policy: item.policy.as_deref(),
        };
        match desk.ask(question).await? {
            Reply::Said(answer, elapsed) => inquiry.said(name, answer, elapsed),
            Reply::Paused(wait) => inquiry.paused(name, desk.categories(), wait),
            Reply::Failed(error, _) if error.is_passing() && !run.is_last_attempt() => {
                return match inquiry.begun() {
                    // What failed stands with the job.
                    None => Err(format!("{name}: {error}").into()),
                    effect => Ok(Finish::Again {
                        effect,
                        delay: RETRY.delay(run.attempt),
                        charged: true,
                    }),
                };
            }
            Reply::Failed(error, elapsed) => {
                warn!(media.id = %item.media, provider = name, %error, "a provider failed for good");
                inquiry.failed(name, desk.categories(), &error, elapsed);
            }
        }
    }
    let rest = analyst.patience.saturating_sub(item.age);
    if let Some(wait) = inquiry.wait()
        && !rest.is_zero()
    {
        // Not all at once.
        let wait = wait.mul_f64(1.0 + 0.2 * rand::random::<f64>()) + Duration::from_millis(20);
        return Ok(again(inquiry, wait.min(rest)));
    }
    if analyst.panel.names().next().is_none() {
        inquiry.nobody();
    }
    Ok(done(item, inquiry.end()))
}

/// The names of providers to ask, in order.
fn preference<'a>(item: &'a ToAnalyse, panel: &'a Panel) -> Vec<&'a str> {
    match &item.preferred {
        Some(names) => names.iter().map(String::as_str).collect(),
        None => panel.names().collect(),
    }
}

fn both(some: &[Category], others: &[Category]) -> Vec<Category> {
    let some = some.iter().copied();
    some.filter(|category| others.contains(category)).collect()
}

/// The same job again, which is no attempt.
fn again(inquiry: Inquiry<'_>, delay: Duration) -> Ended {
    Finish::Again {
        effect: inquiry.begun(),
        delay,
        charged: false,
    }
}

fn done(
    item: &ToAnalyse,
    (scores, providers, unchecked): (Option<Scores>, Vec<ProviderReport>, Vec<Unchecked>),
) -> Ended {
    Finish::Done(Some(Progress::Done(Analysed {
        media: item.media,
        team: item.team,
        scores,
        providers,
        unchecked,
    })))
}
