//! Management tokens of a team, or of the whole instance.

pub(crate) mod new;
mod scopes;
pub(crate) mod token;

use std::{collections::HashMap, sync::Arc};

use askama::Template;
use chrono::Utc;
use domain::id::{TeamId, TokenId};
use management::{
    display_names,
    tokens::{self, Token},
};
use uuid::Uuid;

use crate::{
    page::{self, Area, Frame, pager},
    request::PageRequest,
    router::Answer,
    time::Moment,
};

#[derive(Template)]
#[template(path = "tokens.html")]
struct List {
    frame: Frame,
    at: Area,
    rows: Vec<Row>,
    next: Option<String>,
}

/// A token as lists show it.
struct Row {
    id: TokenId,
    name: String,
    hint: String,
    scopes: usize,
    /// The team in which it acts, on the pages of the whole instance.
    team: Option<String>,
    created: Moment,
    creator: String,
    expires: Option<Moment>,
    state: State,
}

/// Whether a token is accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Valid,
    Expired,
    Disabled,
}

impl State {
    fn of(token: &Token) -> Self {
        if token.disabled_at.is_some() {
            return Self::Disabled;
        }
        match token.expires_at {
            Some(at) if at <= Utc::now() => Self::Expired,
            Some(_) | None => Self::Valid,
        }
    }

    /// The tone and the text of its badge.
    fn badge(self) -> (&'static str, &'static str) {
        match self {
            Self::Valid => ("ok", "valid"),
            Self::Expired => ("", "expired"),
            Self::Disabled => ("no", "disabled"),
        }
    }
}

pub(crate) async fn list(request: Arc<PageRequest>) -> Answer {
    let at = request.at()?;
    let frame = Frame::of(&request, at, "tokens").await?;
    let caller = request.caller(at.team())?;
    let page = pager::asked(&request);
    let listed = match at {
        Area::Instance => tokens::of_operators(&request.management, &caller, page).await?,
        Area::Team(_) | Area::Own => tokens::list(&request.management, &caller, None, page).await?,
    };
    let names = display_names::of(&request.management, &caller, &named_by(&listed)).await?;
    Ok(page::shown(&List {
        next: pager::next(&request, &listed, |token| token.id),
        rows: rows(listed, at, &names),
        frame,
        at,
    }))
}

/// Whose names lists show: creators and teams.
fn named_by(listed: &[Token]) -> Vec<Uuid> {
    let creators = listed.iter().filter_map(|token| token.created_by);
    let teams = listed.iter().filter_map(|token| token.team);
    let creators = creators.map(TokenId::as_uuid);
    creators.chain(teams.map(TeamId::as_uuid)).collect()
}

fn rows(listed: Vec<Token>, at: Area, names: &HashMap<Uuid, String>) -> Vec<Row> {
    let name = |id: Uuid| names.get(&id).cloned().unwrap_or_else(|| id.to_string());
    let rows = listed.into_iter().map(|token| Row {
        state: State::of(&token),
        team: match (at, token.team) {
            (Area::Instance, Some(team)) => Some(name(team.as_uuid())),
            (Area::Instance | Area::Team(_) | Area::Own, _) => None,
        },
        creator: creator(&token, names),
        id: token.id,
        name: token.name,
        hint: token.hint,
        scopes: token.scopes.len(),
        created: token.created_at.into(),
        expires: token.expires_at.map(Moment::from),
    });
    rows.collect()
}

/// Who created a token, in words.
fn creator(token: &Token, names: &HashMap<Uuid, String>) -> String {
    let known = token.created_by.and_then(|by| names.get(&by.as_uuid()));
    let unnamed = match token.creator.as_deref() {
        // A team does not learn the names of operators.
        Some("member") => "an operator",
        Some("token") => "an operator's token",
        Some("command_line") => "the command line",
        Some(_) | None => "not recorded",
    };
    known.cloned().unwrap_or_else(|| unnamed.to_owned())
}
