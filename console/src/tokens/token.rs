//! A token: what it can do, the tokens that it created, and disabling it.

use std::sync::Arc;

use askama::Template;
use domain::{id::TokenId, scope::Scope};
use management::{
    display_names,
    tokens::{self, Extent, Token},
};
use poem::http::StatusCode;

use super::{
    Row, State, creator, named_by, rows,
    scopes::{self, Noun},
};
use crate::{
    page::{self, At, Frame, pager},
    problems::Problems,
    router::Answer,
    time::Moment,
    visit::Visit,
};

#[derive(Template)]
#[template(path = "tokens/token.html")]
struct Shown {
    frame: Frame,
    at: At,
    token: Token,
    state: State,
    creator: String,
    created: Moment,
    expires: Option<Moment>,
    disabled: Option<Moment>,
    nouns: Vec<Noun>,
    /// The tokens that it created.
    children: Vec<Row>,
    next: Option<String>,
    /// Whether the person may disable it: nobody takes more than they have.
    may_disable: bool,
    problems: Problems,
}

pub(crate) async fn show(visit: Arc<Visit>) -> Answer {
    page(&visit, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn disable(visit: Arc<Visit>) -> Answer {
    let at = visit.at()?;
    let frame = Frame::of(&visit, at, "tokens").await?;
    frame.require(Scope::TokensWrite)?;
    let id: TokenId = visit.id("token")?;
    let caller = visit.caller(at.team())?;
    let token = tokens::get(&visit.management, &caller, id).await?;
    if visit.form.get("typed") != token.name {
        let mut problems = Problems::default();
        problems.add("typed", "This is not the name of the token.");
        return page(&visit, StatusCode::UNPROCESSABLE_ENTITY, problems).await;
    }
    let extent = if visit.form.has("below") {
        Extent::Descendants
    } else {
        Extent::One
    };
    tokens::disable(&visit.management, &caller, id, extent).await?;
    Ok(page::see_other(
        at.path(&format!("tokens/{id}?done=token-disabled")),
    ))
}

async fn page(visit: &Visit, status: StatusCode, problems: Problems) -> Answer {
    let at = visit.at()?;
    let frame = Frame::of(visit, at, "tokens").await?;
    let caller = visit.caller(at.team())?;
    let id: TokenId = visit.id("token")?;
    let token = tokens::get(&visit.management, &caller, id).await?;
    let asked = pager::asked(visit);
    let below = tokens::list(&visit.management, &caller, Some(id), asked).await?;
    let mut ids = named_by(&below);
    ids.extend(named_by(std::slice::from_ref(&token)));
    let names = display_names::of(&visit.management, &caller, &ids).await?;
    let is_above = |scope: &Scope| !frame.may(*scope);
    let page = Shown {
        state: State::of(&token),
        creator: creator(&token, &names),
        created: token.created_at.into(),
        expires: token.expires_at.map(Moment::from),
        disabled: token.disabled_at.map(Moment::from),
        nouns: scopes::table(&token.scopes, &token.scopes),
        next: pager::next(visit, &below, |token| token.id),
        children: rows(below, at, &names),
        may_disable: frame.may(Scope::TokensWrite) && !token.scopes.iter().any(is_above),
        frame,
        at,
        token,
        problems,
    };
    Ok(page::html(status, &page))
}
