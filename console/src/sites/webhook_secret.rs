//! The secret that signs a site's webhooks: which secrets there are, and the first step of a rotation.

pub(crate) mod rotate;
mod start_time;

use std::sync::Arc;

use askama::Template;
use management::webhook_secrets::{self, Standing};
use poem::{Response, http::StatusCode};

use self::start_time::StartTime;
use super::page_header::{SiteHeader, Tab};
use crate::{
    error_page::PageError,
    page::{self, Frame},
    problems::Problems,
    request::PageRequest,
    router::Answer,
    time::Moment,
};

#[derive(Template)]
#[template(path = "sites/webhook_secret.html")]
struct Secret {
    frame: Frame,
    here: SiteHeader,
    secrets: Secrets,
    /// When the next secret is to sign.
    when: StartTime,
    problems: Problems,
}

/// Which secrets a site has.
struct Secrets {
    /// Since when the present one signs; none: since the site was created.
    signs_since: Option<Moment>,
    /// Until when the one before it signs too.
    previous_until: Option<Moment>,
    /// When the next one begins to sign.
    next_at: Option<Moment>,
}

impl From<Standing> for Secrets {
    fn from(standing: Standing) -> Self {
        Self {
            signs_since: standing.signs_since.map(Moment::from),
            previous_until: standing.previous_until.map(Moment::from),
            next_at: standing.next_at.map(Moment::from),
        }
    }
}

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    let when = StartTime::default();
    page(&request, StatusCode::OK, when, Problems::default()).await
}

async fn page(
    request: &PageRequest,
    status: StatusCode,
    when: StartTime,
    problems: Problems,
) -> Result<Response, PageError> {
    let (frame, here) = SiteHeader::of(request, Tab::Secret).await?;
    let caller = request.caller(Some(request.team()?))?;
    let standing = webhook_secrets::get(&request.management, &caller, here.site.id).await?;
    let page = Secret {
        frame,
        here,
        secrets: standing.into(),
        when,
        problems,
    };
    Ok(page::html(status, &page))
}
