//! The second and the third step of a rotation: what it would do, and the new secret.

use std::sync::Arc;

use askama::Template;
use chrono::Utc;
use domain::{scope::Scope, webhook::ROTATION_GRACE};
use management::webhook_secrets::{self, Dropped, IssuedSecret};
use poem::{Response, http::StatusCode};

use super::{Secrets, StartTime};
use crate::{
    error_page::PageError,
    page::{self, Frame},
    problems::Problems,
    request::PageRequest,
    router::Answer,
    sites::page_header::{SiteHeader, Tab},
    time::Moment,
};

/// What is sent in place of a secret that would be dropped, if there is none.
const NOTHING: &str = "nothing";

#[derive(Template)]
#[template(path = "sites/webhook_secret/check.html")]
struct Check {
    frame: Frame,
    here: SiteHeader,
    when: StartTime,
    /// When the new secret would begin to sign; none means at once.
    activates: Option<Moment>,
    /// Until when the present one would sign too.
    previous_until: Moment,
    secrets: Secrets,
    dropped: Option<Dropped>,
    problems: Problems,
}

impl Check {
    /// What the form says would be dropped.
    fn drops(&self) -> &'static str {
        drops(self.dropped)
    }
}

/// The new secret, shown once.
#[derive(Template)]
#[template(path = "sites/webhook_secret/issued.html")]
struct Issued {
    frame: Frame,
    here: SiteHeader,
    secret: String,
    activates: Moment,
    is_active: bool,
    previous_until: Moment,
    dropped: Option<Dropped>,
}

pub(crate) async fn check(request: Arc<PageRequest>) -> Answer {
    let when = StartTime::of(&request.query);
    page(&request, StatusCode::OK, when, Problems::default()).await
}

pub(crate) async fn rotate(request: Arc<PageRequest>) -> Answer {
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    let when = StartTime::of(&request.form);
    let at = match when.parsed() {
        Ok(at) => at,
        Err(problems) => return super::page(&request, status, when, problems).await,
    };
    let (frame, here) = SiteHeader::of(&request, Tab::Secret).await?;
    let frame = frame.require(Scope::WebhooksWrite)?;
    let caller = request.caller(Some(request.team()?))?;
    let standing = webhook_secrets::get(&request.management, &caller, here.site.id).await?;
    let dropped = Dropped::by(&standing);
    let mut problems = Problems::default();
    if request.form.get("drops") != drops(dropped) {
        problems.add("drops", "changed since you opened this page");
    } else if dropped.is_some() && request.form.get("typed") != here.name() {
        problems.add("typed", "must be the name of the site");
    }
    if !problems.are_none() {
        return page(&request, status, when, problems).await;
    }
    match webhook_secrets::rotate(&request.management, &caller, here.site.id, at).await {
        Ok(issued) => Ok(page::shown(&Issued::of(frame, here, &issued))),
        Err(refused) => {
            let problems = Problems::of(refused)?;
            page(&request, status, when, problems).await
        }
    }
}

impl Issued {
    // The secret is shown once, so this page is the answer itself and has no address.
    fn of(frame: Frame, here: SiteHeader, issued: &IssuedSecret) -> Self {
        let rotated = &issued.rotated;
        Self {
            frame,
            here,
            secret: rotated.secret.expose().to_owned(),
            is_active: rotated.activates_at <= Utc::now(),
            activates: rotated.activates_at.into(),
            previous_until: rotated.previous_until.into(),
            dropped: issued.dropped,
        }
    }
}

async fn page(
    request: &PageRequest,
    status: StatusCode,
    when: StartTime,
    problems: Problems,
) -> Result<Response, PageError> {
    let at = match when.parsed() {
        Ok(at) => at,
        Err(problems) => {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return super::page(request, status, when, problems).await;
        }
    };
    let (frame, here) = SiteHeader::of(request, Tab::Secret).await?;
    let frame = frame.require(Scope::WebhooksWrite)?;
    let caller = request.caller(Some(request.team()?))?;
    let standing = webhook_secrets::get(&request.management, &caller, here.site.id).await?;
    let page = Check {
        frame,
        here,
        when,
        activates: at.map(Moment::from),
        previous_until: (at.unwrap_or_else(Utc::now) + ROTATION_GRACE).into(),
        secrets: standing.into(),
        dropped: Dropped::by(&standing),
        problems,
    };
    Ok(page::html(status, &page))
}

fn drops(dropped: Option<Dropped>) -> &'static str {
    dropped.map_or(NOTHING, Dropped::as_str)
}
