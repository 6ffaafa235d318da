//! The secret that signs a site's webhooks: which secrets there are, what a rotation would do, and the new secret.

use askama::Template;
use chrono::{DateTime, TimeDelta, Utc};
use domain::webhook::{LONGEST_NOTICE, ROTATION_GRACE};
use management::webhook_secrets::{self, Dropped, IssuedSecret, Standing};

use super::page_header::{SiteHeader, Tab};
use crate::{
    page::{self, Answer, Form, Frame, PageRequest, Problems},
    time,
};

#[derive(Template)]
#[template(path = "sites/webhook_secret.html")]
struct Secret {
    frame: Frame,
    here: SiteHeader,
    secrets: Standing,
    /// When the next secret is to sign.
    when: StartTime,
    problems: Problems,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let when = StartTime::default();
    page(&request, when, Problems::default()).await
}

async fn page(request: &PageRequest, when: StartTime, problems: Problems) -> Answer {
    let (frame, here) = SiteHeader::of(request, Tab::Secret).await?;
    let caller = request.caller()?;
    let standing = webhook_secrets::get(&caller, here.site.id).await?;
    let page = Secret {
        frame,
        here,
        secrets: standing,
        when,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

/// What is sent in place of a secret that would be dropped, if there is none.
const NOTHING: &str = "nothing";

#[derive(Template)]
#[template(path = "sites/webhook_secret/check.html")]
struct Check {
    frame: Frame,
    here: SiteHeader,
    when: StartTime,
    /// When the new secret would begin to sign; none means at once.
    activates: Option<DateTime<Utc>>,
    /// Until when the present one would sign too.
    previous_until: DateTime<Utc>,
    secrets: Standing,
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
    activates: DateTime<Utc>,
    is_active: bool,
    previous_until: DateTime<Utc>,
    dropped: Option<Dropped>,
}

pub(crate) async fn check(request: PageRequest) -> Answer {
    let when = StartTime::of(&request.query);
    checked(&request, when, Problems::default()).await
}

pub(crate) async fn rotate(request: PageRequest) -> Answer {
    let when = StartTime::of(&request.form);
    let at = match when.parsed() {
        Ok(at) => at,
        Err(problems) => return page(&request, when, problems).await,
    };
    let (frame, here) = SiteHeader::of(&request, Tab::Secret).await?;
    let caller = request.caller()?;
    let standing = webhook_secrets::get(&caller, here.site.id).await?;
    let dropped = Dropped::by(&standing);
    let mut problems = Problems::default();
    if request.form.get("drops") != drops(dropped) {
        problems.add("drops", "changed since you opened this page");
    } else if dropped.is_some() && request.form.get("typed") != here.name() {
        problems.add("typed", "must be the name of the site");
    }
    if !problems.are_none() {
        return checked(&request, when, problems).await;
    }
    match webhook_secrets::rotate(&caller, here.site.id, at).await {
        Ok(issued) => Ok(page::shown(&Issued::of(frame, here, &issued))),
        Err(refused) => checked(&request, when, Problems::of(refused)?).await,
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
            activates: rotated.activates_at,
            previous_until: rotated.previous_until,
            dropped: issued.dropped,
        }
    }
}

async fn checked(request: &PageRequest, when: StartTime, problems: Problems) -> Answer {
    let at = match when.parsed() {
        Ok(at) => at,
        Err(problems) => return page(request, when, problems).await,
    };
    let (frame, here) = SiteHeader::of(request, Tab::Secret).await?;
    let caller = request.caller()?;
    let standing = webhook_secrets::get(&caller, here.site.id).await?;
    let page = Check {
        frame,
        here,
        when,
        activates: at,
        previous_until: at.unwrap_or_else(Utc::now) + ROTATION_GRACE,
        secrets: standing,
        dropped: Dropped::by(&standing),
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

fn drops(dropped: Option<Dropped>) -> &'static str {
    dropped.map_or(NOTHING, Dropped::as_str)
}

/// What the form shows and sends.
struct StartTime {
    /// Later, not now.
    is_later: bool,
    /// When, in UTC.
    at: String,
}

impl Default for StartTime {
    /// Now; and if later, tomorrow.
    fn default() -> Self {
        let tomorrow = Utc::now() + TimeDelta::days(1);
        Self {
            is_later: false,
            at: tomorrow.format("%Y-%m-%dT%H:00").to_string(),
        }
    }
}

impl StartTime {
    fn of(form: &Form) -> Self {
        Self {
            is_later: form.get("when") == "later",
            at: form.get("activate_at").trim().to_owned(),
        }
    }

    /// The time; none means now. `Err`: it is none, is past, or is too far away.
    fn parsed(&self) -> Result<Option<DateTime<Utc>>, Problems> {
        if !self.is_later {
            return Ok(None);
        }
        let now = Utc::now();
        let wrong = match time::typed(&self.at) {
            None => "must be a date and a time, such as 2026-03-31T12:00",
            Some(at) if at <= now => "must be in the future",
            Some(at) if at > now + LONGEST_NOTICE => "must be at most 30 days ahead",
            Some(at) => return Ok(Some(at)),
        };
        Err(Problems::field("activate_at", wrong))
    }
}
