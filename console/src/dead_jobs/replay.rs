//! Replaying dead jobs: those that were chosen, or all that match, a thousand at a time.

use askama::Template;
use management::dead_jobs::{self, Filter, JobId, Place};

use super::{
    cursor::Cursor,
    filter::{self, Conditions},
    page,
};
use crate::{
    number::grouped,
    page::{Answer, Frame, PageRequest, Problems, Texts, shown},
};

/// How many dead jobs one step looks at.
const STEP: u32 = 1_000;
/// The most jobs that can be chosen.
const MOST_CHOSEN: usize = 1_000;

#[derive(Template)]
#[template(path = "dead_jobs/replay.html")]
struct Step {
    frame: Frame,
    wanted: Texts,
    what: &'static str,
    /// How many jobs this step enqueued.
    now: String,
    /// How many all steps together enqueued.
    so_far: u64,
    total: String,
    rest: Option<Rest>,
}

/// What is left to do.
struct Rest {
    jobs: String,
    begun: String,
    after: String,
}

/// What a replay is about.
enum What {
    Chosen(Vec<JobId>),
    Matching(Conditions),
    All,
}

impl What {
    fn of(request: &PageRequest, wanted: &Texts) -> Result<Self, Problems> {
        let is_limited = wanted.given().next().is_some();
        let refused = |message: &str| Problems::field("replay", message);
        match request.form.get("what") {
            "chosen" => {
                let ids = request.form.all("id").take(MOST_CHOSEN);
                let ids: Vec<JobId> = ids.filter_map(|id| id.parse().ok().map(JobId)).collect();
                if ids.is_empty() {
                    return Err(refused("needs at least one job: tick its box"));
                }
                Ok(Self::Chosen(ids))
            }
            "matching" if is_limited => Ok(Self::Matching(filter::parsed(wanted)?)),
            "all" if !is_limited => Ok(Self::All),
            _ => Err(refused("needs jobs: choose some, or a filter")),
        }
    }

    fn filter(&self) -> Filter<'_> {
        match self {
            Self::Chosen(ids) => Filter {
                ids: Some(ids),
                ..Filter::default()
            },
            Self::Matching(conditions) => conditions.filter(),
            Self::All => Filter::default(),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Chosen(_) => "chosen",
            Self::Matching(_) => "matching",
            Self::All => "all",
        }
    }
}

pub(crate) async fn step(request: PageRequest) -> Answer {
    let wanted = filter::typed(&request.form);
    let what = match What::of(&request, &wanted) {
        Ok(what) => what,
        Err(problems) => {
            let conditions = filter::parsed(&wanted).ok();
            return page(&request, wanted, conditions.as_ref(), problems).await;
        }
    };
    let caller = request.caller()?;
    let filter = go_on(&request, what.filter());
    let mut replay = dead_jobs::begin_replay(&caller, filter).await?;
    let batch = dead_jobs::replay(&caller, &mut replay, STEP).await?;
    let mut rest = None;
    if let (false, Some(after), Some(begun)) =
        (batch.is_last, replay.place(), replay.filter().before)
    {
        let left = Filter {
            after: Some(after),
            ..replay.filter()
        };
        let jobs = dead_jobs::count(&caller, left).await?;
        rest = (jobs > 0).then(|| Rest {
            jobs: grouped(jobs),
            begun: Cursor(begun).to_string(),
            after: Cursor(after).to_string(),
        });
    }
    let before: u64 = request.form.get("so_far").parse().unwrap_or(0);
    let so_far = before.saturating_add(batch.replayed);
    Ok(shown(&Step {
        frame: Frame::of(&request, "dead-jobs").await?,
        wanted,
        what: what.name(),
        now: grouped(batch.replayed),
        so_far,
        total: grouped(so_far),
        rest,
    }))
}

/// The jobs that earlier steps have left. Those that died since the first step are not among them.
fn go_on<'a>(request: &PageRequest, filter: Filter<'a>) -> Filter<'a> {
    let place = |name| {
        let cursor = request.form.get(name).parse::<Cursor>().ok();
        cursor.map(|cursor| cursor.0)
    };
    let (begun, after): (Option<Place>, Option<Place>) = (place("begun"), place("after"));
    Filter {
        before: filter.before.into_iter().chain(begun).min(),
        after: filter.after.max(after),
        ..filter
    }
}
