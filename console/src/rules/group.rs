//! The rules of a group: the draft if there is one, else the live version.

use askama::Template;
use domain::rules::{Rule, RuleKind};
use management::rule_groups::drafts::{self, ComparedDraft};

use super::{
    diff::Differences,
    names::Lists,
    page_header::{self, Head, Tab},
    pagination::Slice,
    row::{Row, States, hits_of, mentions},
};
use crate::{
    page::{self, Answer, Frame, PageRequest, Problems},
    visible_text::truncate,
};

#[derive(Template)]
#[template(path = "rules/group.html")]
struct Group<'a> {
    frame: Frame,
    head: Head,
    /// The text that is looked for.
    wanted: &'a str,
    revision: i64,
    edited: bool,
    /// How many rules the draft has.
    count: usize,
    rows: Slice<Row>,
    differences: Differences,
    /// Whether some matches are not counted by rule.
    is_incomplete: bool,
    warnings: Vec<String>,
    /// Why a change was refused.
    wrong: Vec<String>,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, &Problems::default()).await
}

/// The page, with the reasons why a change was refused.
pub(super) async fn page(request: &PageRequest, problems: &Problems) -> Answer {
    let caller = request.caller()?;
    let group = request.id("group")?;
    let ComparedDraft {
        draft,
        warnings,
        difference,
    } = drafts::compare(&caller, group).await?;
    let removed = difference.removed.iter();
    let lists = lists_of(&caller, draft.rules.iter().chain(removed)).await?;
    let (frame, head) = page_header::open(request, &caller, Tab::Rules).await?;
    let wanted = request.query.get("q").trim();
    let beside = States::of(&difference);
    let rules = draft.rules.iter().enumerate();
    let found = rules.filter(|(_, rule)| wanted.is_empty() || mentions(rule, wanted, &lists));
    let mut rows = Slice::of(request, found).map(|(place, rule)| Row::of(place, rule, &lists));
    let hits = hits_of(&caller, &frame, group).await?;
    for row in &mut rows.rows {
        row.state = beside.state(row.id);
        row.hits = hits.of_rule(row.id, beside.is_new(row.id));
    }
    let page = Group {
        frame,
        head,
        wanted,
        revision: draft.revision,
        edited: draft.edited,
        count: draft.rules.len(),
        rows,
        differences: Differences::of(&difference, &lists),
        is_incomplete: hits.is_incomplete(),
        warnings: told(&warnings, &draft.rules),
        wrong: problems.besides(&[]),
    };
    Ok(page::html(problems.status(), &page))
}

/// The names of the hash lists, if any of these rules names one.
pub(super) async fn lists_of<'a>(
    caller: &management::Caller,
    mut rules: impl Iterator<Item = &'a Rule>,
) -> Result<Lists, crate::page::PageError> {
    if rules.any(|rule| matches!(rule.kind, RuleKind::ImageHash(_))) {
        Lists::of(caller).await
    } else {
        Ok(Lists::default())
    }
}

/// Warnings that are shown.
const WARNINGS: usize = 10;

/// Warnings, with the names of the rules that they are about.
pub(super) fn told(warnings: &[management::rule_groups::Warning], rules: &[Rule]) -> Vec<String> {
    let shown = warnings.iter().take(WARNINGS).map(|warning| {
        let place = warning.field.strip_prefix("rules[");
        let place = place.and_then(|rest| rest.split(']').next()?.parse::<usize>().ok());
        match place.and_then(|place| rules.get(place)) {
            Some(rule) => format!(
                "“{}”: {}",
                truncate(&rule.name, 100),
                warning.message.replace('`', "")
            ),
            None => warning.message.replace('`', ""),
        }
    });
    let more = warnings.len().saturating_sub(WARNINGS);
    let more = (more > 0).then(|| format!("And {more} more warnings."));
    shown.chain(more).collect()
}
