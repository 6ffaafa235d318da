//! The code of the second factor.

use std::sync::Arc;

use askama::Template;
use management::{Refused, account::sign_in};
use poem::http::{StatusCode, header};

use super::home;
use crate::{cookie, page, router::Answer, visit::Visit};

#[derive(Template)]
#[template(path = "door/code.html")]
struct Code<'a> {
    /// Where the person goes on, if not to the start.
    team: &'a str,
    problem: Option<String>,
}

pub(crate) async fn show(visit: Arc<Visit>) -> Answer {
    visit.session()?;
    Ok(page::shown(&Code {
        team: visit.query.get("team"),
        problem: None,
    }))
}

pub(crate) async fn give(visit: Arc<Visit>) -> Answer {
    let session = visit.session()?;
    let code = visit.form.get("code");
    match sign_in::give_code(&visit.management, &visit.visitor, session, code).await {
        Ok(secret) => {
            let team = visit.form.get("team").parse().ok();
            let mut response = page::see_other(home(team));
            response
                .headers_mut()
                .insert(header::SET_COOKIE, cookie::hold(&secret));
            Ok(response)
        }
        Err(refused @ (Refused::WrongCode | Refused::TooManyTries { .. })) => {
            let page = Code {
                team: visit.form.get("team"),
                problem: Some(refused.to_string()),
            };
            Ok(page::html(StatusCode::UNPROCESSABLE_ENTITY, &page))
        }
        Err(other) => Err(other.into()),
    }
}
