//! Rules as YAML: a file to keep, and a file to replace the draft with.

use std::sync::Arc;

use askama::Template;
use domain::rule_file::InputFile;
use management::{Conflict, Refused, rule_groups::files};
use poem::{
    Response,
    http::{StatusCode, header},
};

use super::{
    head::{self, Head, Tab},
    sent::revision,
};
use crate::{
    page::{self, Frame},
    problems::Problems,
    router::Answer,
    visit::Visit,
};

#[derive(Template)]
#[template(path = "rules/import.html")]
struct Import<'a> {
    frame: Frame,
    head: Head,
    yaml: &'a str,
    revision: i64,
    wrong: Vec<String>,
}

/// Reads a file that was pasted.
pub(super) fn read(text: &str) -> Result<InputFile, Refused> {
    InputFile::from_yaml(text)
        .map_err(|wrong| Refused::Invalid(format!("This is no rule group: {wrong}.").into()))
}

pub(crate) async fn export(visit: Arc<Visit>) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let (group, management) = (visit.id("group")?, &visit.management);
    let file = match visit.query.get("version") {
        "draft" => files::export_draft(management, &caller, group).await?,
        version => files::export(management, &caller, group, version.parse().ok()).await?,
    };
    // The name is made of an id and a number.
    let disposition = format!("attachment; filename=\"{}.yaml\"", file.name);
    Ok(Response::builder()
        .content_type("application/yaml")
        .header(header::CONTENT_DISPOSITION, disposition)
        .body(file.yaml))
}

pub(crate) async fn show(visit: Arc<Visit>) -> Answer {
    form(&visit, StatusCode::OK, None, Vec::new()).await
}

pub(crate) async fn import(visit: Arc<Visit>) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let (group, seen) = (visit.id("group")?, revision(&visit));
    let text = visit.form.get("yaml").to_owned();
    let read = move || -> Result<InputFile, Refused> { read(&text) };
    match files::import_draft(&visit.management, &caller, group, Some(seen), read).await {
        Ok(_) => {
            let path = head::path(&visit, group, "?done=draft-imported")?;
            Ok(page::see_other(path))
        }
        Err(Refused::Conflict(Conflict::DraftChanged, _)) => {
            let wrong = "Somebody else changed the draft meanwhile. Your file is kept below, and nothing is stored yet. \
                         Look at the draft first; importing again replaces it.";
            form(&visit, StatusCode::CONFLICT, None, vec![wrong.to_owned()]).await
        }
        Err(refused) => {
            let wrong = Problems::of(refused)?.besides(&[]);
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            form(&visit, status, Some(seen), wrong).await
        }
    }
}

/// The form. Without a revision, the next attempt builds on the present draft.
async fn form(
    visit: &Visit,
    status: StatusCode,
    revision: Option<i64>,
    wrong: Vec<String>,
) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let (frame, head) = head::open_to_edit(visit, &caller, Tab::None).await?;
    let page = Import {
        revision: revision.unwrap_or(head.group().draft_revision),
        frame,
        head,
        yaml: visit.form.get("yaml"),
        wrong,
    };
    Ok(page::html(status, &page))
}
