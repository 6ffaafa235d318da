//! The rule groups of a team: the list, and a new one that is empty or comes from a file.

pub(crate) mod backtests;
mod diff;
pub(crate) mod draft;
pub(crate) mod group;
mod names;
mod page_header;
mod pagination;
pub(crate) mod publish;
mod row;
pub(crate) mod rule;
pub(crate) mod settings;
pub(crate) mod shadow;
pub(crate) mod trial;
pub(crate) mod versions;
pub(crate) mod yaml;

use askama::Template;
use domain::{name::Name, rule_file::InputFile, rules::InputRules};
use management::{
    Refused,
    rule_groups::{
        self, CreatedRuleGroup, NewRuleGroup, files,
        overview::{self, Placed},
    },
};
use poem::http::StatusCode;

use crate::page::{self, Answer, Frame, PageRequest, Problems, pager};

#[derive(Template)]
#[template(path = "rules.html")]
struct List {
    frame: Frame,
    groups: Vec<Placed>,
    next: Option<String>,
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let groups = overview::list(&caller, pager::asked(&request)).await?;
    Ok(page::shown(&List {
        frame: Frame::of(&request, "rules").await?,
        next: pager::next(&request, &groups, |placed| placed.group.id),
        groups,
    }))
}

#[derive(Template)]
#[template(path = "rules/new.html")]
struct New {
    frame: Frame,
    problems: Problems,
    wrong: Vec<String>,
}

pub(crate) async fn new(request: PageRequest) -> Answer {
    form(&request, Problems::default(), Vec::new()).await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    let is_file = request.form.has("from_file");
    let created = if is_file {
        from_file(&request).await
    } else {
        empty(&request).await
    };
    let refused = match created {
        Ok(created) => {
            return request.lead_to(format!("rules/{}?done=group-created", created.group.id));
        }
        Err(refused) => refused,
    };
    // The name in a file is one of the mistakes of the file.
    let wrong = match &refused {
        _ if !is_file => return form(&request, Problems::of(refused)?, Vec::new()).await,
        Refused::Conflict(_, message) => vec![message.to_string()],
        _ => Problems::of(refused)?.besides(&[]),
    };
    let problems = Problems::default().with_status(StatusCode::UNPROCESSABLE_ENTITY);
    form(&request, problems, wrong).await
}

async fn empty(request: &PageRequest) -> Result<CreatedRuleGroup, Refused> {
    let name: Name = request.form.read("name")?;
    let caller = request.caller()?;
    let new = NewRuleGroup {
        name,
        team: request.team().ok(),
        rules: InputRules::default(),
        note: None,
    };
    rule_groups::create(&caller, new).await
}

async fn from_file(request: &PageRequest) -> Result<CreatedRuleGroup, Refused> {
    let caller = request.caller()?;
    let text = request.form.get("yaml").to_owned();
    let read = move || -> Result<InputFile, Refused> { yaml::read(&text) };
    files::import_group(&caller, request.team().ok(), read).await
}

async fn form(request: &PageRequest, problems: Problems, wrong: Vec<String>) -> Answer {
    let page = New {
        frame: Frame::of(request, "rules").await?,
        problems,
        wrong,
    };
    Ok(page::html(page.problems.status(), &page))
}
