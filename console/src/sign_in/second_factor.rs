//! The code of the second factor.

use askama::Template;
use domain::key::LinkSecret;
use management::{Refused, account::sign_in};
use poem::http::{StatusCode, header};

use super::home;
use crate::{
    cookie,
    page::{self, Answer, PageRequest},
};

#[derive(Template)]
#[template(path = "sign_in/second_factor.html")]
struct Code<'a> {
    /// Where the person goes on, if not to the start: to this team, or to an invitation with this link.
    team: &'a str,
    link: &'a str,
    problem: Option<String>,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    request.session()?;
    Ok(page::shown(&Code {
        team: request.query.get("team"),
        link: request.query.get("link"),
        problem: None,
    }))
}

pub(crate) async fn give(request: PageRequest) -> Answer {
    let session = request.session()?;
    let code = request.form.get("code");
    match sign_in::give_code(&request.management, &request.visitor, session, code).await {
        Ok(secret) => {
            let team = request.form.get("team").parse().ok();
            let link = request.form.get("link").parse::<LinkSecret>().ok();
            let there = link.map_or_else(|| home(team), |link| format!("/links/{}", link.expose()));
            let mut response = page::see_other(there);
            response
                .headers_mut()
                .insert(header::SET_COOKIE, cookie::hold(&secret));
            Ok(response)
        }
        Err(refused @ (Refused::WrongCode | Refused::TooManyTries { .. })) => {
            let page = Code {
                team: request.form.get("team"),
                link: request.form.get("link"),
                problem: Some(refused.to_string()),
            };
            Ok(page::html(StatusCode::UNPROCESSABLE_ENTITY, &page))
        }
        Err(other) => Err(other.into()),
    }
}
