//! A new rule group: an empty one, or one from a file.

use askama::Template;
use domain::{name::Name, rule_file::InputFile, rules::InputRules};
use management::{
    Refused,
    rule_groups::{self, CreatedRuleGroup, NewRuleGroup, files},
};
use poem::http::StatusCode;

use super::yaml;
use crate::page::{self, Answer, Frame, PageRequest, Problems};

#[derive(Template)]
#[template(path = "rules/new.html")]
struct New<'a> {
    frame: Frame,
    name: &'a str,
    yaml: &'a str,
    problems: Problems,
    /// What is wrong with the file.
    wrong: Vec<String>,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
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
    rule_groups::create(&request.management, &caller, new).await
}

async fn from_file(request: &PageRequest) -> Result<CreatedRuleGroup, Refused> {
    let caller = request.caller()?;
    let text = request.form.get("yaml").to_owned();
    let read = move || -> Result<InputFile, Refused> { yaml::read(&text) };
    files::import_group(&request.management, &caller, request.team().ok(), read).await
}

async fn form(request: &PageRequest, problems: Problems, wrong: Vec<String>) -> Answer {
    let page = New {
        frame: Frame::of(request, "rules").await?,
        name: request.form.get("name"),
        yaml: request.form.get("yaml"),
        problems,
        wrong,
    };
    Ok(page::html(page.problems.status(), &page))
}
