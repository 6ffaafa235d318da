//! The second factor: setting it up with an app, removing it, and recovery codes.

use std::fmt::Write as _;

use askama::Template;
use domain::totp::RecoveryCode;
use management::{Refused, account::second_factor};
use poem::http::StatusCode;
use qrcode::{Color, QrCode};

use crate::{
    cookie,
    page::{self, Answer, PageRequest},
};

/// Explains what a second factor is.
#[derive(Template)]
#[template(path = "account/second_factor.html")]
struct Intro;

/// The secret for the app, and the field for its first code.
#[derive(Template)]
#[template(path = "account/second_factor_set_up.html")]
struct SetUp {
    secret: String,
    uri: String,
    qr: Option<Qr>,
    problem: Option<String>,
}

/// The recovery codes, shown once.
#[derive(Template)]
#[template(path = "account/recovery_codes.html")]
struct RecoveryCodes {
    codes: Vec<String>,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    request.session()?;
    Ok(page::shown(&Intro))
}

pub(crate) async fn begin(request: PageRequest) -> Answer {
    let begun = second_factor::set_up(&request.management, request.session()?).await?;
    Ok(page::shown(&SetUp {
        secret: begun.secret.base32(),
        qr: Qr::of(&begun.uri),
        uri: begun.uri,
        problem: None,
    }))
}

pub(crate) async fn confirm(request: PageRequest) -> Answer {
    let (session, code) = (request.session()?, request.form.get("code"));
    match second_factor::confirm(&request.management, &request.visitor, session, code).await {
        Ok(confirmed) => {
            let codes = confirmed.recovery_codes.iter().map(RecoveryCode::expose);
            let codes = codes.collect();
            let held = cookie::hold(&confirmed.secret);
            Ok(cookie::set(page::shown(&RecoveryCodes { codes }), held))
        }
        // The app has this secret already: the page shows it again.
        Err(refused @ (Refused::WrongCode | Refused::TooManyTries { .. })) => {
            let uri = request.form.get("uri");
            let page = SetUp {
                secret: request.form.get("secret").to_owned(),
                qr: Qr::of(uri),
                uri: uri.to_owned(),
                problem: Some(refused.to_string()),
            };
            Ok(page::html(StatusCode::UNPROCESSABLE_ENTITY, &page))
        }
        Err(other) => Err(other.into()),
    }
}

pub(crate) async fn remove(request: PageRequest) -> Answer {
    second_factor::remove(&request.management, &request.visitor, request.session()?).await?;
    Ok(page::see_other("/account?done=factor-removed"))
}

pub(crate) async fn renew_codes(request: PageRequest) -> Answer {
    let session = request.session()?;
    let codes =
        second_factor::renew_recovery_codes(&request.management, &request.visitor, session).await?;
    let codes = codes.iter().map(RecoveryCode::expose).collect();
    Ok(page::shown(&RecoveryCodes { codes }))
}

/// The white edge that readers need, in modules.
const EDGE: usize = 4;

pub(crate) struct Qr {
    /// Modules on a side, the edge included.
    pub(crate) side: usize,
    /// The dark modules: a path in units of modules.
    pub(crate) path: String,
}

impl Qr {
    /// Of this text; none if it is too long for one.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let code = QrCode::new(text).ok()?;
        let width = code.width();
        let mut path = String::new();
        for (place, color) in code.to_colors().into_iter().enumerate() {
            if color == Color::Dark {
                let (x, y) = (place % width + EDGE, place / width + EDGE);
                // A string takes everything.
                let _ = write!(path, "M{x} {y}h1v1h-1z");
            }
        }
        Some(Self {
            side: width + 2 * EDGE,
            path,
        })
    }
}
