//! What somebody sees who is not signed in yet, or must prove something again.

pub(crate) mod one_time_link;
pub(crate) mod password_form;
pub(crate) mod reauthentication;
pub(crate) mod second_factor;
pub(crate) mod single_sign_on;

use domain::{id::TeamId, key::LinkSecret};
use management::account::{Next, SignedIn};
use poem::{Response, http::header};

use crate::{
    cookie,
    page::{self, Area},
};

/// Has the browser hold the session, and leads to what must be done next: in the end to this team,
/// or to the start.
fn entered(signed_in: &SignedIn, team: Option<TeamId>) -> Response {
    let mut response = page::see_other(match (signed_in.next, team) {
        (Next::Enter, team) => home(team),
        (Next::GiveFactor, Some(team)) => format!("/sign-in/code?team={team}"),
        (Next::GiveFactor, None) => "/sign-in/code".to_owned(),
        (Next::SetUpFactor, _) => "/account/factor".to_owned(),
    });
    let held = cookie::hold(&signed_in.secret);
    response.headers_mut().insert(header::SET_COOKIE, held);
    response
}

/// Has the browser hold the session, and leads back to the invitation, which the person can accept now.
fn entered_to_join(signed_in: &SignedIn, link: &LinkSecret) -> Response {
    let link = link.expose();
    let mut response = page::see_other(match signed_in.next {
        Next::Enter => format!("/links/{link}"),
        Next::GiveFactor => format!("/sign-in/code?link={link}"),
        Next::SetUpFactor => "/account/factor".to_owned(),
    });
    let held = cookie::hold(&signed_in.secret);
    response.headers_mut().insert(header::SET_COOKIE, held);
    response
}

/// The first page of this team, or the start.
fn home(team: Option<TeamId>) -> String {
    team.map_or_else(|| "/".to_owned(), |team| Area::Team(team).home())
}
