//! The overview of a team: figures, verdicts over time, the rules that decided most, and what waits for somebody.

pub(crate) mod first_steps;
mod percentages;
mod tiles;
mod time_range;
mod to_do;
mod top_rules;
mod trend;
mod verdicts;

use askama::Template;
use chrono::{DateTime, Utc};
use domain::{id::SiteId, statistics::Interval};
use management::{
    Caller, Refused, media, rule_groups,
    sites::{self, ManagedSite},
    statistics::{self, Bucket, Report},
};

use self::{
    first_steps::{Step, first_steps},
    tiles::{COUNTED, Tile, tiles},
    time_range::{TimeRange, Window},
    to_do::{Found, ToDo},
    top_rules::{TopRule, kinds, top_rules},
    trend::Trend,
    verdicts::Verdicts,
};
use crate::page::{self, Answer, Choice, Frame, PageError, PageRequest, pager};

/// Sites to choose from, the oldest ones.
const SITES: i64 = 100;

/// Rule groups that are known by name.
const GROUPS: i64 = 200;

#[derive(Template)]
#[template(path = "overview.html")]
struct Overview {
    frame: Frame,
    spans: Vec<Choice>,
    sites: Vec<Choice>,
    /// The name of the site that was chosen.
    site: Option<String>,
    has_more_sites: bool,
    needs: Vec<ToDo>,
    /// None before the first item of the team.
    shown: Option<Shown>,
    steps: [Step; 3],
}

struct Shown {
    span: TimeRange,
    tiles: [Tile; 4],
    verdicts: Verdicts,
    rules: Vec<TopRule>,
    counted_until: DateTime<Utc>,
    has_history: bool,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let team = request.team()?;
    let caller = request.caller()?;
    let frame = Frame::of(&request, "overview").await?;
    let (sites, chosen) = sites(&request, &caller).await?;
    let site = chosen.as_ref().map(|site| site.id);
    let window = TimeRange::named(request.query.get("span")).window(Utc::now());
    let (report, before) = figures(&caller, site, window).await?;
    let trend = Trend::new(window, &report, &before);
    let waiting = media::waiting(&caller, site, COUNTED).await?;
    let groups = rule_groups::list(&caller, pager::first(GROUPS)).await?;
    let has_all = i64::try_from(groups.len()).is_ok_and(|count| count < GROUPS);
    let found = Found {
        caller: &caller,
        frame: &frame,
        site,
        groups: &groups,
        waiting: &waiting,
        trend: &trend,
    };
    let needs = found.needs().await?;
    let is_new = site.is_none() && trend.is_empty() && {
        let any = media::list(&caller, &media::Filter::default(), None, 1).await?;
        any.media.is_empty()
    };
    // Only the first steps show them.
    let counts = if is_new {
        let ids: Vec<SiteId> = sites.iter().map(|site| site.id).collect();
        sites::counts(&caller, &ids).await?
    } else {
        Vec::new()
    };
    let kinds = kinds(&caller, team, &report).await?;
    let shown = Shown {
        span: window.span,
        tiles: tiles(&trend, &waiting),
        verdicts: Verdicts::of(&trend),
        rules: top_rules(&frame, &report, &kinds, &groups, has_all),
        counted_until: report.counted_until,
        has_history: report.has_history,
    };
    Ok(page::shown(&Overview {
        steps: first_steps(&frame, &sites, &counts),
        frame,
        spans: TimeRange::ALL
            .map(|span| Choice::new(span.value(), span.name(), window.span.value()))
            .into(),
        has_more_sites: i64::try_from(sites.len()).is_ok_and(|count| count == SITES),
        sites: site_choices(&sites, chosen.as_ref()),
        site: chosen.map(|site| site.settings.name),
        needs,
        shown: (!is_new).then_some(shown),
    }))
}

/// The first sites of the team, and the one that the address names.
async fn sites(
    request: &PageRequest,
    caller: &Caller,
) -> Result<(Vec<ManagedSite>, Option<ManagedSite>), PageError> {
    let sites = sites::list(caller, pager::first(SITES)).await?;
    if !request.query.has("site") {
        return Ok((sites, None));
    }
    let id: SiteId = request
        .query
        .get("site")
        .parse()
        .map_err(|_| PageError::NoSuchPage)?;
    let chosen = sites::get(caller, id).await?;
    Ok((sites, Some(chosen)))
}

/// The figures of a window by hour, and those of the window before it.
async fn figures(
    caller: &Caller,
    site: Option<SiteId>,
    window: Window,
) -> Result<(Report, Vec<Bucket>), Refused> {
    let query = statistics::Query {
        site,
        from: Some(window.from),
        to: Some(window.to),
        interval: Interval::Hour,
    };
    let found = statistics::get_with_before(caller, query).await?;
    Ok((found.0.report, found.1))
}

/// The sites to choose from; the chosen one is among them.
fn site_choices(sites: &[ManagedSite], chosen: Option<&ManagedSite>) -> Vec<Choice> {
    let is_missing = |one: &&ManagedSite| !sites.iter().any(|site| site.id == one.id);
    let sites = sites.iter().chain(chosen.filter(is_missing));
    let chosen = chosen.map_or_else(String::new, |site| site.id.to_string());
    sites
        .map(|site| Choice::new(site.id, site.settings.name.as_str(), &chosen))
        .collect()
}
