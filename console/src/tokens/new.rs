//! A new token. It can do no more than the person who creates it.

use std::sync::Arc;

use askama::Template;
use chrono::{DateTime, Utc};
use domain::{name::Name, role::Role, scope::Scope};
use management::{
    Refused,
    tokens::{self, IssuedToken, NewToken},
};
use poem::http::StatusCode;

use super::scopes::{self, Noun};
use crate::{
    form::Form,
    page::{self, Area, Frame},
    problems::Problems,
    request::PageRequest,
    router::Answer,
    time,
};

#[derive(Template)]
#[template(path = "tokens/new.html")]
struct New<'a> {
    frame: Frame,
    at: Area,
    name: &'a str,
    expires_on: &'a str,
    nouns: Vec<Noun>,
    presets: Vec<Role>,
    problems: Problems,
}

#[derive(Template)]
#[template(path = "tokens/created.html")]
struct Created {
    frame: Frame,
    at: Area,
    issued: IssuedToken,
}

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    form(&request, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn create(request: Arc<PageRequest>) -> Answer {
    let at = request.at()?;
    let frame = Frame::of(&request, at, "tokens").await?;
    let frame = frame.require(Scope::TokensWrite)?;
    match token(&request, at).await {
        // The token is shown once, so this page is the answer itself and has no address.
        Ok(issued) => Ok(page::shown(&Created { frame, at, issued })),
        Err(refused) => {
            let problems = Problems::of(refused)?;
            form(&request, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

async fn token(request: &PageRequest, at: Area) -> Result<IssuedToken, Refused> {
    let name = request.form.get("name").trim().parse::<Name>();
    let new = NewToken {
        name: name.map_err(|wrong| Refused::field("name", wrong.to_string()))?,
        team: at.team(),
        scopes: ticked(&request.form),
        expires_at: end_of(request.form.get("expires_on"))?,
    };
    let caller = request.caller(at.team())?;
    tokens::create(&request.management, &caller, &new).await
}

fn ticked(form: &Form) -> Vec<Scope> {
    form.all("scope")
        .filter_map(|scope| scope.parse().ok())
        .collect()
}

/// The end of a day. An empty text is no end.
fn end_of(day: &str) -> Result<Option<DateTime<Utc>>, Refused> {
    if day.is_empty() {
        return Ok(None);
    }
    let last = time::day(day).and_then(|day| day.and_hms_opt(23, 59, 59));
    let last =
        last.ok_or_else(|| Refused::field("expires_at", "must be a day, such as 2030-12-31"));
    Ok(Some(last?.and_utc()))
}

async fn form(request: &PageRequest, status: StatusCode, problems: Problems) -> Answer {
    let at = request.at()?;
    let frame = Frame::of(request, at, "tokens").await?;
    let frame = frame.require(Scope::TokensWrite)?;
    let preset = request.query.get("preset").parse::<Role>();
    let ticked = match (status, preset) {
        (StatusCode::OK, Ok(role)) => role.scopes().to_vec(),
        _ => ticked(&request.form),
    };
    let page = New {
        nouns: scopes::table(frame.scopes(), &ticked),
        presets: scopes::presets(frame.scopes()),
        frame,
        at,
        name: request.form.get("name"),
        expires_on: request.form.get("expires_on"),
        problems,
    };
    Ok(page::html(status, &page))
}
