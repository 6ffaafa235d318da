//! How the desk treats the items of a site.

use askama::Template;
use domain::{id::SiteId, scope::Scope};
use management::desk::{self, DeskSettings};

use super::page_header::{SiteHeader, Tab};
use crate::page::{self, Answer, Frame, PageRequest, Problems, Texts, stale_form};

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
    values: Texts,
    /// The settings that the person has seen.
    seen: String,
    problems: Problems,
}

impl Desk {
    fn may_change(&self) -> bool {
        self.frame.may(Scope::ReviewsManage)
    }
}

fn stored(settings: &DeskSettings) -> Texts {
    let golden = settings.golden_every.map(|every| every.get().to_string());
    Texts::stored([
        (
            "critical_minutes",
            settings.critical_minutes.get().to_string(),
        ),
        ("high_minutes", settings.high_minutes.get().to_string()),
        ("normal_minutes", settings.normal_minutes.get().to_string()),
        ("low_minutes", settings.low_minutes.get().to_string()),
        ("undo_seconds", settings.undo_seconds.get().to_string()),
        ("audit_percent", settings.audit_percent.get().to_string()),
        ("golden_every", golden.unwrap_or_default()),
    ])
}

fn parsed(texts: &Texts) -> Result<DeskSettings, Problems> {
    let mut wrong = Problems::default();
    let mut settings = DeskSettings::default();
    for (field, minutes) in [
        ("critical_minutes", &mut settings.critical_minutes),
        ("high_minutes", &mut settings.high_minutes),
        ("normal_minutes", &mut settings.normal_minutes),
        ("low_minutes", &mut settings.low_minutes),
    ] {
        if let Some(typed) = texts.must(&mut wrong, field) {
            *minutes = typed;
        }
    }
    if let Some(seconds) = texts.must(&mut wrong, "undo_seconds") {
        settings.undo_seconds = seconds;
    }
    if let Some(percent) = texts.must(&mut wrong, "audit_percent") {
        settings.audit_percent = percent;
    }
    if let Some(Some(every)) = texts.may(&mut wrong, "golden_every") {
        settings.golden_every = Some(every);
    }
    wrong.into_result(settings)
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, None, Problems::default()).await
}

pub(crate) async fn save(request: PageRequest) -> Answer {
    let (site, caller): (SiteId, _) = (request.id("site")?, request.caller()?);
    let typed = Texts::sent(&request.form, FIELDS);
    let is_seen = |settings: &DeskSettings| {
        stale_form::is_seen(&request, &stale_form::digest(stored(settings).all()))
    };
    let problems = match parsed(&typed) {
        Ok(settings) => {
            let saved = desk::update_seen(&caller, site, is_seen, settings);
            match saved.await {
                Ok(Ok(_)) => return Ok(request.lead_back("saved")),
                Ok(Err(outdated)) => stale_form::problems(&outdated),
                Err(refused) => Problems::of(refused)?,
            }
        }
        Err(problems) => problems,
    };
    page(&request, Some(typed), problems).await
}

async fn page(request: &PageRequest, typed: Option<Texts>, problems: Problems) -> Answer {
    let (frame, here) = SiteHeader::of(request, Tab::Desk).await?;
    let caller = request.caller()?;
    let settings = desk::get(&caller, here.site.id).await?;
    let present = stored(&settings);
    let page = Desk {
        seen: stale_form::next(request, &problems, stale_form::digest(present.all())),
        values: typed.unwrap_or(present),
        frame,
        here,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}
