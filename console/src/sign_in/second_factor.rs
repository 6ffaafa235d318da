//! The code of the second factor.

use std::sync::Arc;

use askama::Template;
use domain::key::LinkSecret;
use management::{Refused, account::sign_in};
use poem::http::{StatusCode, header};

use super::home;
use crate::{cookie, page, router::Answer, request::PageRequest};

#[derive(Template)]
#[template(path = "sign_in/second_factor.html")]
struct Code<'a> {
    /// Where the person goes on, if not to the start: to this team, or to an invitation with this link.
    team: &'a str,
    link: &'a str,
    problem: Option<String>,
}

pub(crate) async fn show(visit: Arc<PageRequest>) -> Answer {
    visit.session()?;
    Ok(page::shown(&Code {
        team: visit.query.get("team"),
        link: visit.query.get("link"),
        problem: None,
    }))
}

pub(crate) async fn give(visit: Arc<PageRequest>) -> Answer {
    let session = visit.session()?;
    let code = visit.form.get("code");
    match sign_in::give_code(&visit.management, &visit.visitor, session, code).await {
        Ok(secret) => {
            let team = visit.form.get("team").parse().ok();
            let link = visit.form.get("link").parse::<LinkSecret>().ok();
            let there = link.map_or_else(|| home(team), |link| format!("/links/{}", link.expose()));
            let mut response = page::see_other(there);
            response
                .headers_mut()
                .insert(header::SET_COOKIE, cookie::hold(&secret));
            Ok(response)
        }
        Err(refused @ (Refused::WrongCode | Refused::TooManyTries { .. })) => {
            let page = Code {
                team: visit.form.get("team"),
                link: visit.form.get("link"),
                problem: Some(refused.to_string()),
            };
            Ok(page::html(StatusCode::UNPROCESSABLE_ENTITY, &page))
        }
        Err(other) => Err(other.into()),
    }
}
