//! Management tokens of a team, or of the whole instance.

mod scopes;

use std::collections::HashMap;

use askama::Template;
use chrono::{DateTime, Utc};
use domain::{
    id::{TeamId, TokenId},
    role::Role,
    scope::Scope,
};
use management::{
    Refused, display_names,
    tokens::{self, Extent, IssuedToken, NewToken, Token},
};
use uuid::Uuid;

use self::scopes::Noun;
use crate::{
    page::{self, Answer, Area, Form, Frame, PageRequest, Problems, pager},
    time,
};

#[derive(Template)]
#[template(path = "tokens.html")]
struct List {
    frame: Frame,
    rows: Vec<Row>,
    next: Option<String>,
}

struct Row {
    id: TokenId,
    name: String,
    hint: String,
    scopes: usize,
    /// The team in which it acts, on the pages of the whole instance.
    team: Option<String>,
    created: DateTime<Utc>,
    creator: String,
    expires: Option<DateTime<Utc>>,
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

pub(crate) async fn list(request: PageRequest) -> Answer {
    let at = request.at()?;
    let frame = Frame::of(&request, "tokens").await?;
    let caller = request.caller()?;
    let page = pager::asked(&request);
    let listed = match at {
        Area::Instance => tokens::of_operators(&caller, page).await?,
        Area::Team(_) | Area::Own => tokens::list(&caller, None, page).await?,
    };
    let names = display_names::of(&caller, &named_by(&listed)).await?;
    Ok(page::shown(&List {
        next: pager::next(&request, &listed, |token| token.id),
        rows: rows(listed, at, &names),
        frame,
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
        created: token.created_at,
        expires: token.expires_at,
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

#[derive(Template)]
#[template(path = "tokens/new.html")]
struct New {
    frame: Frame,
    nouns: Vec<Noun>,
    presets: Vec<Role>,
    problems: Problems,
}

#[derive(Template)]
#[template(path = "tokens/created.html")]
struct Created {
    frame: Frame,
    issued: IssuedToken,
}

pub(crate) async fn new(request: PageRequest) -> Answer {
    form(&request, Problems::default()).await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    let frame = Frame::of(&request, "tokens").await?;
    match token(&request, frame.at).await {
        // The token is shown once, so this page is the answer itself and has no address.
        Ok(issued) => Ok(page::shown(&Created { frame, issued })),
        Err(refused) => form(&request, Problems::of(refused)?).await,
    }
}

async fn token(request: &PageRequest, at: Area) -> Result<IssuedToken, Refused> {
    let new = NewToken {
        name: request.form.read("name")?,
        team: at.team(),
        scopes: ticked(&request.form),
        expires_at: end_of(request.form.get("expires_on"))?,
    };
    let caller = request.caller()?;
    tokens::create(&caller, &new).await
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

async fn form(request: &PageRequest, problems: Problems) -> Answer {
    let frame = Frame::of(request, "tokens").await?;
    let preset = request.query.get("preset").parse::<Role>();
    let ticked = match (problems.are_none(), preset) {
        (true, Ok(role)) => role.scopes().to_vec(),
        _ => ticked(&request.form),
    };
    let page = New {
        nouns: scopes::table(frame.scopes(), &ticked),
        presets: scopes::presets(frame.scopes()),
        frame,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

#[derive(Template)]
#[template(path = "tokens/token.html")]
struct Shown {
    frame: Frame,
    token: Token,
    state: State,
    creator: String,
    nouns: Vec<Noun>,
    /// The tokens that it created.
    children: Vec<Row>,
    next: Option<String>,
    /// Whether the person may disable it: nobody takes more than they have.
    may_disable: bool,
    problems: Problems,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, Problems::default()).await
}

pub(crate) async fn disable(request: PageRequest) -> Answer {
    let id: TokenId = request.id("token")?;
    let caller = request.caller()?;
    let token = tokens::get(&caller, id).await?;
    if request.form.get("typed") != token.name {
        let problems = Problems::field("typed", "This is not the name of the token.");
        return page(&request, problems).await;
    }
    let extent = if request.form.has("below") {
        Extent::Descendants
    } else {
        Extent::One
    };
    tokens::disable(&caller, id, extent).await?;
    request.lead_to(format!("tokens/{id}?done=token-disabled"))
}

async fn page(request: &PageRequest, problems: Problems) -> Answer {
    let at = request.at()?;
    let frame = Frame::of(request, "tokens").await?;
    let caller = request.caller()?;
    let id: TokenId = request.id("token")?;
    let token = tokens::get(&caller, id).await?;
    let asked = pager::asked(request);
    let below = tokens::list(&caller, Some(id), asked).await?;
    let mut ids = named_by(&below);
    ids.extend(named_by(std::slice::from_ref(&token)));
    let names = display_names::of(&caller, &ids).await?;
    let is_above = |scope: &Scope| !frame.may(*scope);
    let page = Shown {
        state: State::of(&token),
        creator: creator(&token, &names),
        nouns: scopes::table(&token.scopes, &token.scopes),
        next: pager::next(request, &below, |token| token.id),
        children: rows(below, at, &names),
        may_disable: frame.may(Scope::TokensWrite) && !token.scopes.iter().any(is_above),
        frame,
        token,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}
