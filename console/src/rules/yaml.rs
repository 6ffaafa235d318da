//! Rules as YAML: a file to keep, and a file to replace the draft with.

use askama::Template;
use domain::rule_file::InputFile;
use management::{Conflict, Refused, rule_groups::files};
use poem::{
    Response,
    http::{StatusCode, header},
};

use super::page_header::{self, Head, Tab, revision};
use crate::page::{self, Answer, Frame, PageRequest, Problems};

#[derive(Template)]
#[template(path = "rules/import.html")]
struct Import {
    frame: Frame,
    head: Head,
    revision: i64,
    wrong: Vec<String>,
}

pub(super) fn read(text: &str) -> Result<InputFile, Refused> {
    InputFile::from_yaml(text)
        .map_err(|wrong| Refused::Invalid(format!("This is no rule group: {wrong}.").into()))
}

pub(crate) async fn export(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let group = request.id("group")?;
    let file = match request.query.get("version") {
        "draft" => files::export_draft(&caller, group).await?,
        version => files::export(&caller, group, version.parse().ok()).await?,
    };
    // The name is made of an id and a number.
    let disposition = format!("attachment; filename=\"{}.yaml\"", file.name);
    Ok(Response::builder()
        .content_type("application/yaml")
        .header(header::CONTENT_DISPOSITION, disposition)
        .body(file.yaml))
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    form(&request, StatusCode::OK, None, Vec::new()).await
}

pub(crate) async fn import(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let (group, seen) = (request.id("group")?, revision(&request));
    let text = request.form.get("yaml").to_owned();
    let read = move || -> Result<InputFile, Refused> { read(&text) };
    match files::import_draft(&caller, group, Some(seen), read).await {
        Ok(_) => request.lead_to(format!("rules/{group}?done=draft-imported")),
        Err(Refused::Conflict(Conflict::DraftChanged, _)) => {
            let wrong = "Somebody else changed the draft meanwhile. Your file is kept below, and nothing is stored yet. \
                         Look at the draft first; importing again replaces it.";
            form(&request, StatusCode::CONFLICT, None, vec![wrong.to_owned()]).await
        }
        Err(refused) => {
            let wrong = Problems::of(refused)?.besides(&[]);
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            form(&request, status, Some(seen), wrong).await
        }
    }
}

/// The form. Without a revision, the next attempt builds on the present draft.
async fn form(
    request: &PageRequest,
    status: StatusCode,
    revision: Option<i64>,
    wrong: Vec<String>,
) -> Answer {
    let caller = request.caller()?;
    let (frame, head) = page_header::open(request, &caller, Tab::None).await?;
    let page = Import {
        revision: revision.unwrap_or(head.group().draft_revision),
        frame,
        head,
        wrong,
    };
    Ok(page::html(status, &page))
}
