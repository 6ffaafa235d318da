//! How the desk treats the items of a site: a page of the site.

use std::sync::Arc;

use askama::Template;
use domain::{id::SiteId, scope::Scope};
use management::desk::{self, DeskSettings};
use poem::{Response, http::StatusCode};

use super::form_values::kept;
use crate::{
    error_page::PageError,
    form::Form,
    page::{self, Frame},
    problems::Problems,
    request::PageRequest,
    router::Answer,
    sites::{SiteHeader, Tab},
    stale_form,
};

/// Fields of this page.
const FIELDS: &[&str] = &[
    "critical_minutes",
    "high_minutes",
    "normal_minutes",
    "low_minutes",
    "undo_seconds",
    "audit_percent",
    "golden_every",
];

#[derive(Template)]
#[template(path = "sites/desk.html")]
struct Desk {
    frame: Frame,
    here: SiteHeader,
    values: Values,
    /// The settings that the person has seen.
    seen: String,
    problems: Problems,
}

impl Desk {
    fn may_change(&self) -> bool {
        self.frame.may(Scope::ReviewsManage)
    }
}

/// The texts of the form.
struct Values {
    critical_minutes: String,
    high_minutes: String,
    normal_minutes: String,
    low_minutes: String,
    undo_seconds: String,
    audit_percent: String,
    golden_every: String,
}

impl Values {
    fn of_settings(settings: &DeskSettings) -> Self {
        let golden = settings.golden_every.map(|every| every.get().to_string());
        Self {
            critical_minutes: settings.critical_minutes.get().to_string(),
            high_minutes: settings.high_minutes.get().to_string(),
            normal_minutes: settings.normal_minutes.get().to_string(),
            low_minutes: settings.low_minutes.get().to_string(),
            undo_seconds: settings.undo_seconds.get().to_string(),
            audit_percent: settings.audit_percent.get().to_string(),
            golden_every: golden.unwrap_or_default(),
        }
    }

    fn of_form(form: &Form) -> Self {
        let text = |name: &str| form.get(name).trim().to_owned();
        Self {
            critical_minutes: text("critical_minutes"),
            high_minutes: text("high_minutes"),
            normal_minutes: text("normal_minutes"),
            low_minutes: text("low_minutes"),
            undo_seconds: text("undo_seconds"),
            audit_percent: text("audit_percent"),
            golden_every: text("golden_every"),
        }
    }

    /// A digest of all of them.
    fn seen(&self) -> String {
        let texts = [
            &self.critical_minutes,
            &self.high_minutes,
            &self.normal_minutes,
            &self.low_minutes,
            &self.undo_seconds,
            &self.audit_percent,
            &self.golden_every,
        ];
        stale_form::digest(texts.into_iter().map(String::as_str))
    }

    fn parsed(&self) -> Result<DeskSettings, Problems> {
        let mut wrong = Problems::default();
        let mut settings = DeskSettings::default();
        for (field, text, minutes) in [
            (
                "critical_minutes",
                &self.critical_minutes,
                &mut settings.critical_minutes,
            ),
            (
                "high_minutes",
                &self.high_minutes,
                &mut settings.high_minutes,
            ),
            (
                "normal_minutes",
                &self.normal_minutes,
                &mut settings.normal_minutes,
            ),
            ("low_minutes", &self.low_minutes, &mut settings.low_minutes),
        ] {
            if let Some(typed) = kept(&mut wrong, field, text.parse()) {
                *minutes = typed;
            }
        }
        if let Some(seconds) = kept(&mut wrong, "undo_seconds", self.undo_seconds.parse()) {
            settings.undo_seconds = seconds;
        }
        if let Some(percent) = kept(&mut wrong, "audit_percent", self.audit_percent.parse()) {
            settings.audit_percent = percent;
        }
        if !self.golden_every.is_empty() {
            settings.golden_every = kept(&mut wrong, "golden_every", self.golden_every.parse());
        }
        if wrong.are_none() {
            Ok(settings)
        } else {
            Err(wrong)
        }
    }
}

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    page(&request, StatusCode::OK, None, Problems::default()).await
}

pub(crate) async fn save(request: Arc<PageRequest>) -> Answer {
    let caller = request.caller(Some(request.team()?))?;
    let site: SiteId = request.id("site")?;
    let values = Values::of_form(&request.form);
    let is_seen = |settings: &DeskSettings| {
        stale_form::is_seen(&request, &Values::of_settings(settings).seen())
    };
    let (status, problems) = match values.parsed() {
        Ok(settings) => {
            let saved = desk::update_seen(&request.management, &caller, site, is_seen, settings);
            match saved.await {
                Ok(Ok(_)) => return Ok(page::see_other(format!("{}?done=saved", request.path()))),
                Ok(Err(outdated)) => (StatusCode::CONFLICT, stale_form::problems(&outdated)),
                Err(refused) => (StatusCode::UNPROCESSABLE_ENTITY, Problems::of(refused)?),
            }
        }
        Err(problems) => (StatusCode::UNPROCESSABLE_ENTITY, problems),
    };
    page(&request, status, Some(values), problems).await
}

async fn page(
    request: &PageRequest,
    status: StatusCode,
    typed: Option<Values>,
    problems: Problems,
) -> Result<Response, PageError> {
    let (frame, here) = SiteHeader::of(request, Tab::Desk).await?;
    let caller = request.caller(Some(request.team()?))?;
    let settings = desk::get(&request.management, &caller, here.site.id).await?;
    let present = Values::of_settings(&settings);
    let page = Desk {
        seen: stale_form::next(request, status, present.seen()),
        values: typed.unwrap_or(present),
        frame,
        here,
        problems,
    };
    Ok(page::html(status, &page))
}
