//! The reports of the desk, for leads.

use std::{borrow::Borrow, fmt::Write as _};

use askama::Template;
use chrono::{Days, NaiveTime};
use domain::{
    id::{RuleGroupId, RuleId, SiteId},
    precision_recall::Point,
    proportion::Proportion,
    review::Kappa,
    rules::RuleEffect,
    scope::Scope,
};
use management::{
    Refused,
    reviews::quality::{self, Curve, Quality, Query, RuleCurves},
    rule_groups::threshold::{self, NewThreshold},
    sites,
};
use poem::{Response, http::header};

use crate::{
    charts::CurveChart,
    page::{self, Answer, Choice, Frame, PageError, PageRequest, pager},
    time::day,
};

/// Sites to choose from.
const SITES: i64 = 200;

#[derive(Template)]
#[template(path = "desk/reports.html")]
struct Reports {
    frame: Frame,
    sites: Vec<Choice>,
    from: String,
    to: String,
    site: String,
    /// Where the same figures are as CSV.
    csv: String,
    report: Quality,
    rules: Vec<Rule>,
}

impl Reports {
    fn may_try(&self) -> bool {
        self.frame.may(Scope::RulesWrite)
    }
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let query = wanted(&request)?;
    let frame = Frame::of(&request, "desk/quality").await?;
    let sites = sites::list(&caller, pager::first(SITES)).await?;
    let report = quality::quality(&caller, query).await?;
    let (from, to) = (request.query.get("from"), request.query.get("to"));
    let site = query.site.map(|site| site.to_string()).unwrap_or_default();
    // Only what was parsed gets into the address.
    let mut csv = frame.path("desk/quality/csv?");
    for (name, text) in [("from", from), ("to", to), ("site", site.as_str())] {
        if !text.is_empty() {
            let _ = write!(csv, "{name}={text}&");
        }
    }
    Ok(page::shown(&Reports {
        frame,
        sites: sites
            .into_iter()
            .map(|known| Choice::new(known.id, known.settings.name, &site))
            .collect(),
        from: from.to_owned(),
        to: to.to_owned(),
        csv: csv.trim_end_matches(['?', '&']).to_owned(),
        rules: report.machine.rules.iter().map(Rule::of).collect(),
        site,
        report,
    }))
}

pub(crate) async fn download(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let report = quality::quality(&caller, wanted(&request)?).await?;
    Ok(Response::builder()
        .content_type("text/csv; charset=utf-8")
        .header(
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"review-quality.csv\"",
        )
        .body(quality::csv(&report)))
}

/// Sets a threshold in the draft of a rule group, starts a backtest, and leads to it.
pub(crate) async fn try_threshold(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let id = |name: &str| -> Result<uuid::Uuid, PageError> {
        request
            .form
            .get(name)
            .parse()
            .map_err(|_| PageError::NoSuchPage)
    };
    let group = RuleGroupId::from(id("group")?);
    let new = NewThreshold {
        rule: RuleId::from(id("rule")?),
        effect: match request.form.get("effect") {
            "reject" => RuleEffect::Reject,
            _ => RuleEffect::Review,
        },
        threshold: request.form.get("threshold").parse().map_err(|_| {
            PageError::from(Refused::Invalid(
                "The threshold must be from 0 to 1.".into(),
            ))
        })?,
        site: match request.form.get("site") {
            "" => None,
            _ => Some(id("site")?.into()),
        },
    };
    let backtest = threshold::try_threshold(&caller, group, new).await?;
    request.lead_to(format!(
        "rules/{group}/backtests/{}?done=backtest-started",
        backtest.id
    ))
}

/// What the address asks for: from the beginning of a day to the end of another, in UTC.
fn wanted(request: &PageRequest) -> Result<Query, PageError> {
    let asked = |name: &str| match request.query.get(name) {
        "" => Ok(None),
        typed => day(typed).map(Some).ok_or(PageError::NoSuchPage),
    };
    let (from, to) = (asked("from")?, asked("to")?);
    let to = to.and_then(|day| day.checked_add_days(Days::new(1)));
    let site = match request.query.get("site") {
        "" => None,
        id => Some(id.parse::<SiteId>().map_err(|_| PageError::NoSuchPage)?),
    };
    Ok(Query {
        site,
        from: from.map(|day| day.and_time(NaiveTime::MIN).and_utc()),
        to: to.map(|day| day.and_time(NaiveTime::MIN).and_utc()),
    })
}

/// A rule with thresholds.
struct Rule {
    group: RuleGroupId,
    group_name: String,
    id: RuleId,
    name: String,
    category: &'static str,
    review_at: Option<f64>,
    reject_at: Option<f64>,
    overall: Lines,
    by_provider: Vec<(String, Lines)>,
}

struct Lines {
    items: Proportion,
    chart: CurveChart,
    points: Vec<Point>,
}

impl Rule {
    fn of(curves: &RuleCurves) -> Self {
        let rule = &curves.rule;
        let in_force: Vec<f64> = [rule.review_at, rule.reject_at]
            .into_iter()
            .flatten()
            .collect();
        Self {
            group: rule.group,
            group_name: rule.group_name.clone(),
            id: rule.rule,
            name: rule.name.clone(),
            category: rule.category.as_str(),
            review_at: rule.review_at,
            reject_at: rule.reject_at,
            overall: Lines::of(&curves.overall, &in_force),
            by_provider: curves
                .by_provider
                .iter()
                .map(|(provider, curve)| (provider.clone(), Lines::of(curve, &in_force)))
                .collect(),
        }
    }
}

impl Lines {
    fn of(curve: &Curve, in_force: &[f64]) -> Self {
        let mut points = curve.steps.clone();
        let own = [curve.review, curve.reject].into_iter().flatten();
        points.extend(own);
        points.sort_by(|one, other| one.threshold.total_cmp(&other.threshold));
        points.dedup_by(|one, other| one.threshold.total_cmp(&other.threshold).is_eq());
        Self {
            items: curve.items,
            chart: CurveChart::new(&points, in_force),
            points,
        }
    }
}

/// A share with its interval, such as `71 % (56 to 81)`.
fn percent(of: impl Borrow<Proportion>) -> String {
    let of = of.borrow();
    match (of.share(), of.wilson()) {
        (Some(share), Some(interval)) => format!(
            "{:.0} % ({:.0} to {:.0})",
            share * 100.0,
            interval.low * 100.0,
            interval.high * 100.0
        ),
        _ => "–".to_owned(),
    }
}

/// A time in seconds, in one unit.
fn seconds(seconds: impl Borrow<Option<f64>>) -> String {
    match *seconds.borrow() {
        None => "–".to_owned(),
        Some(seconds) if seconds < 120.0 => format!("{seconds:.0} s"),
        Some(seconds) if seconds < 7_200.0 => format!("{:.0} min", seconds / 60.0),
        Some(seconds) if seconds < 172_800.0 => format!("{:.1} h", seconds / 3_600.0),
        Some(seconds) => format!("{:.1} d", seconds / 86_400.0),
    }
}

/// Kappa with its interval.
fn kappa(kappa: impl Borrow<Option<Kappa>>) -> String {
    kappa.borrow().map_or_else(
        || "–".to_owned(),
        |kappa| {
            let interval = kappa.interval;
            format!(
                "{:.2} ({:.2} to {:.2})",
                kappa.value, interval.low, interval.high
            )
        },
    )
}
