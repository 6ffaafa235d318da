//! The code of the second factor.

use std::sync::Arc;

use askama::Template;
use management::{Refused, account::sign_in};
use poem::http::{StatusCode, header};

use crate::{cookie, page, router::Answer, visit::Visit};

#[derive(Default, Template)]
#[template(path = "door/code.html")]
struct Code {
    problem: Option<String>,
}

pub(crate) async fn show(visit: Arc<Visit>) -> Answer {
    visit.session()?;
    Ok(page::shown(&Code::default()))
}

pub(crate) async fn give(visit: Arc<Visit>) -> Answer {
    let session = visit.session()?;
    let code = visit.form.get("code");
    match sign_in::give_code(&visit.management, &visit.visitor, session, code).await {
        Ok(secret) => {
            let mut response = page::see_other("/");
            response
                .headers_mut()
                .insert(header::SET_COOKIE, cookie::hold(&secret));
            Ok(response)
        }
        Err(refused @ (Refused::WrongCode | Refused::TooManyTries { .. })) => {
            let problem = Some(refused.to_string());
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            Ok(page::html(status, &Code { problem }))
        }
        Err(other) => Err(other.into()),
    }
}
