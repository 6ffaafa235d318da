//! The reports of the desk, for leads.

mod figures;

use std::fmt::Write as _;

use askama::Template;
use chrono::{Days, NaiveTime};
use domain::{
    id::{RuleGroupId, RuleId, SiteId},
    rules::RuleEffect,
    scope::Scope,
};
use management::{
    Refused,
    reviews::quality::{self, Quality, Query},
    rule_groups::threshold::{self, NewThreshold},
    sites,
};
use poem::{Response, http::header};

use self::figures::Rule;
use crate::{
    page::{self, Answer, Frame, PageError, PageRequest, pager},
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

/// A site to choose.
struct Choice {
    id: SiteId,
    name: String,
    is_chosen: bool,
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
    let sites = sites::list(&request.management, &caller, pager::first(SITES)).await?;
    let report = quality::quality(&request.management, &caller, query).await?;
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
            .map(|known| Choice {
                id: known.id,
                is_chosen: query.site == Some(known.id),
                name: known.settings.name,
            })
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
    let report = quality::quality(&request.management, &caller, wanted(&request)?).await?;
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
    let backtest = threshold::try_threshold(&request.management, &caller, group, new).await?;
    request.lead_to(format!("rules/{group}/backtests/{}?done=backtest-started", backtest.id))
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
