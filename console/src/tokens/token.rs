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
    page::{self, Area, Frame, pager},
    problems::Problems,
    request::PageRequest,
    router::Answer,
    time::Moment,
};

#[derive(Template)]
#[template(path = "tokens/token.html")]
struct Shown {
    frame: Frame,
    at: Area,
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

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    page(&request, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn disable(request: Arc<PageRequest>) -> Answer {
    let at = request.at()?;
    let frame = Frame::of(&request, at, "tokens").await?;
    frame.require(Scope::TokensWrite)?;
    let id: TokenId = request.id("token")?;
    let caller = request.caller(at.team())?;
    let token = tokens::get(&request.management, &caller, id).await?;
    if request.form.get("typed") != token.name {
        let mut problems = Problems::default();
        problems.add("typed", "This is not the name of the token.");
        return page(&request, StatusCode::UNPROCESSABLE_ENTITY, problems).await;
    }
    let extent = if request.form.has("below") {
        Extent::Descendants
    } else {
        Extent::One
    };
    tokens::disable(&request.management, &caller, id, extent).await?;
    Ok(page::see_other(
        at.path(&format!("tokens/{id}?done=token-disabled")),
    ))
}

async fn page(request: &PageRequest, status: StatusCode, problems: Problems) -> Answer {
    let at = request.at()?;
    let frame = Frame::of(request, at, "tokens").await?;
    let caller = request.caller(at.team())?;
    let id: TokenId = request.id("token")?;
    let token = tokens::get(&request.management, &caller, id).await?;
    let asked = pager::asked(request);
    let below = tokens::list(&request.management, &caller, Some(id), asked).await?;
    let mut ids = named_by(&below);
    ids.extend(named_by(std::slice::from_ref(&token)));
    let names = display_names::of(&request.management, &caller, &ids).await?;
    let is_above = |scope: &Scope| !frame.may(*scope);
    let page = Shown {
        state: State::of(&token),
        creator: creator(&token, &names),
        created: token.created_at.into(),
        expires: token.expires_at.map(Moment::from),
        disabled: token.disabled_at.map(Moment::from),
        nouns: scopes::table(&token.scopes, &token.scopes),
        next: pager::next(request, &below, |token| token.id),
        children: rows(below, at, &names),
        may_disable: frame.may(Scope::TokensWrite) && !token.scopes.iter().any(is_above),
        frame,
        at,
        token,
        problems,
    };
    Ok(page::html(status, &page))
}
