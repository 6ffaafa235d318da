//! What publishing the draft would change, and publishing it.

use askama::Template;
use chrono::{DateTime, Utc};
use domain::chain::State;
use management::{
    Caller,
    rule_groups::{
        backtests::{self, Backtest},
        diff,
        drafts::{self, ComparedDraft},
        shadow::{self, ShadowReport},
        versions::{self, NewVersion},
    },
};

use super::{
    diff::Differences,
    group::{lists_of, told},
    page_header::{self, Head, Tab, problems, revision},
};
use crate::page::{self, Answer, Frame, PageError, PageRequest, Problems, pager};

#[derive(Template)]
#[template(path = "rules/publish.html")]
struct Publish {
    frame: Frame,
    head: Head,
    revision: i64,
    edited: bool,
    differences: Differences,
    warnings: Vec<String>,
    shadow: Option<Shadow>,
    backtest: Option<Tested>,
    problems: Problems,
}

/// What the shadow has said so far.
struct Shadow {
    number: i32,
    /// Whether it has the rules of the draft.
    is_draft: bool,
    report: ShadowReport,
}

/// The last backtest.
struct Tested {
    backtest: Backtest,
    /// The version. None: a draft.
    is_of_draft: bool,
    is_running: bool,
    started: DateTime<Utc>,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, Problems::default()).await
}

pub(crate) async fn publish(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let group = request.id("group")?;
    let published = match request.form.note("note") {
        Ok(note) => {
            let new = NewVersion {
                revision: revision(&request),
                note,
                live: true,
            };
            versions::create(&caller, group, new).await
        }
        Err(wrong) => Err(wrong),
    };
    match published {
        Ok(_) => request.lead_to(format!("rules/{group}?done=published")),
        Err(refused) => page(&request, problems(refused)?).await,
    }
}

/// The page, with what is wrong with what was sent.
pub(super) async fn page(request: &PageRequest, problems: Problems) -> Answer {
    let caller = request.caller()?;
    let compared = drafts::compare(&caller, request.id("group")?).await?;
    let ComparedDraft {
        draft,
        warnings,
        difference,
    } = compared;
    let removed = difference.removed.iter();
    let lists = lists_of(&caller, draft.rules.iter().chain(removed)).await?;
    let (frame, head) = page_header::open(request, &caller, Tab::None).await?;
    let page = Publish {
        shadow: shadow_of(&caller, &head).await?,
        backtest: last_backtest(&caller, &head).await?,
        frame,
        head,
        revision: draft.revision,
        edited: draft.edited,
        differences: Differences::of(&difference, &lists),
        warnings: told(&warnings, &draft.rules),
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

async fn shadow_of(caller: &Caller, head: &Head) -> Result<Option<Shadow>, PageError> {
    let group = head.group();
    let (Some(version), Some(number)) = (group.shadow, group.shadow_number) else {
        return Ok(None);
    };
    let report = shadow::report(caller, group.id, version).await?;
    let against = diff::between(caller, group.id, Some(version), None).await?;
    Ok(Some(Shadow {
        number,
        is_draft: against == domain::rule_diff::Difference::default(),
        report,
    }))
}

async fn last_backtest(caller: &Caller, head: &Head) -> Result<Option<Tested>, PageError> {
    let group = head.group().id;
    let listed = backtests::list(caller, group, pager::first(1)).await?;
    Ok(listed.into_iter().next().map(|backtest| Tested {
        is_of_draft: backtest.version.is_none(),
        is_running: backtest.state == State::Running,
        started: backtest.created_at,
        backtest,
    }))
}
