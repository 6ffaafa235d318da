//! A new rule group: an empty one, or one from a file.

use std::sync::Arc;

use askama::Template;
use domain::{name::Name, rule_file::InputFile, rules::InputRules, scope::Scope};
use management::{
    Refused,
    rule_groups::{self, CreatedRuleGroup, NewRuleGroup, files},
};
use poem::http::StatusCode;

use super::{head, yaml};
use crate::{
    page::{self, At, Frame},
    problems::Problems,
    router::Answer,
    trouble::Trouble,
    visit::Visit,
};

#[derive(Template)]
#[template(path = "rules/new.html")]
struct New<'a> {
    frame: Frame,
    team: At,
    name: &'a str,
    yaml: &'a str,
    problems: Problems,
    /// What is wrong with the file.
    wrong: Vec<String>,
}

pub(crate) async fn show(visit: Arc<Visit>) -> Answer {
    form(&visit, StatusCode::OK, Problems::default(), Vec::new()).await
}

pub(crate) async fn create(visit: Arc<Visit>) -> Answer {
    let is_file = visit.form.has("from_file");
    let created = if is_file {
        from_file(&visit).await
    } else {
        empty(&visit).await
    };
    let refused = match created {
        Ok(created) => {
            let path = head::path(&visit, created.group.id, "?done=group-created")?;
            return Ok(page::see_other(path));
        }
        Err(refused) => refused,
    };
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    // The name in a file is one of the mistakes of the file.
    if is_file && let Refused::Conflict(_, message) = &refused {
        let wrong = vec![message.to_string()];
        return form(&visit, status, Problems::default(), wrong).await;
    }
    let problems = Problems::of(refused)?;
    if is_file {
        let wrong = problems.besides(&[]);
        form(&visit, status, Problems::default(), wrong).await
    } else {
        form(&visit, status, problems, Vec::new()).await
    }
}

async fn empty(visit: &Visit) -> Result<CreatedRuleGroup, Refused> {
    let name = visit.form.get("name").trim().parse::<Name>();
    let name = name.map_err(|wrong| Refused::field("name", wrong.to_string()))?;
    let caller = visit.caller(visit.team().ok())?;
    let new = NewRuleGroup {
        name,
        team: visit.team().ok(),
        rules: InputRules::default(),
        note: None,
    };
    rule_groups::create(&visit.management, &caller, new).await
}

async fn from_file(visit: &Visit) -> Result<CreatedRuleGroup, Refused> {
    let caller = visit.caller(visit.team().ok())?;
    let text = visit.form.get("yaml").to_owned();
    let read = move || -> Result<InputFile, Refused> { yaml::read(&text) };
    files::import_group(&visit.management, &caller, visit.team().ok(), read).await
}

async fn form(
    visit: &Visit,
    status: StatusCode,
    problems: Problems,
    wrong: Vec<String>,
) -> Result<poem::Response, Trouble> {
    let team = At::Team(visit.team()?);
    let frame = Frame::of(visit, team, "rules").await?;
    head::require(&frame, Scope::RulesWrite)?;
    let page = New {
        frame,
        team,
        name: visit.form.get("name"),
        yaml: visit.form.get("yaml"),
        problems,
        wrong,
    };
    Ok(page::html(status, &page))
}
