//! A new rule group: an empty one, or one from a file.

use askama::Template;
use domain::{name::Name, rule_file::InputFile, rules::InputRules, scope::Scope};
use management::{
    Refused,
    rule_groups::{self, CreatedRuleGroup, NewRuleGroup, files},
};
use poem::http::StatusCode;

use super::{page_header, yaml};
use crate::page::{self, Answer, Area, Frame, PageError, PageRequest, Problems};

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
    form(&request, StatusCode::OK, Problems::default(), Vec::new()).await
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
            let path = page_header::path(&request, created.group.id, "?done=group-created")?;
            return Ok(page::see_other(path));
        }
        Err(refused) => refused,
    };
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    // The name in a file is one of the mistakes of the file.
    if is_file && let Refused::Conflict(_, message) = &refused {
        let wrong = vec![message.to_string()];
        return form(&request, status, Problems::default(), wrong).await;
    }
    let problems = Problems::of(refused)?;
    if is_file {
        let wrong = problems.besides(&[]);
        form(&request, status, Problems::default(), wrong).await
    } else {
        form(&request, status, problems, Vec::new()).await
    }
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
    let team = Area::Team(request.team()?);
    let frame = Frame::of(request, "rules").await?;
    let page = New {
        frame,
        name: request.form.get("name"),
        yaml: request.form.get("yaml"),
        problems,
        wrong,
    };
    Ok(page::html(page.problems.status(), &page))
}
