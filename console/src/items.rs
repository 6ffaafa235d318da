//! Items: the list with its filters.

mod filter;
pub(crate) mod image;
pub(crate) mod item;
pub(crate) mod metadata;
mod timeline;
pub(crate) mod verdict_details;
pub(crate) mod verdict_reason;

use askama::Template;
use chrono::{DateTime, Utc};
use domain::media::{ContentType, ModerationType, Status};
use management::{
    media::{self, Listed},
    sites,
};

use self::filter::{Asked, Input};
use crate::{
    page::{self, Answer, Area, Frame, PageRequest, pager},
    visible_text::VisibleText,
};

/// Sites that are offered.
const SITES: i64 = 200;

/// Items of a page.
const ROWS: usize = 50;

#[derive(Template)]
#[template(path = "items.html")]
struct List {
    frame: Frame,
    asked: Asked,
    rows: Vec<Row>,
    next: Option<String>,
}

struct Row {
    path: String,
    beginning: Option<VisibleText>,
    is_image: bool,
    app_media_id: Option<VisibleText>,
    site: String,
    status: Status,
    is_unchecked: bool,
    decided_by: Option<String>,
    decided: Option<DateTime<Utc>>,
    accepted: DateTime<Utc>,
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let sites = sites::list(&caller, pager::first(SITES)).await?;
    let asked = filter::read(&request, &sites);
    let found = if asked.problems.are_none() {
        let after = request.query.get("after").parse().ok();
        media::list(&caller, &asked.filter, after, ROWS).await?
    } else {
        media::Page {
            media: Vec::new(),
            next: None,
        }
    };
    let frame = Frame::of(&request, "items").await?;
    let rows = found.media.into_iter();
    let rows = rows.map(|item| Row::new(frame.at, item)).collect();
    let page = List {
        frame,
        asked,
        rows,
        next: found.next.map(|last| pager::after(&request, last)),
    };
    Ok(page::html(page.asked.problems.status(), &page))
}

impl Row {
    fn new(team: Area, item: Listed) -> Self {
        let beginning = item.beginning.filter(|text| !text.trim().is_empty());
        Self {
            path: team.path(&format!("items/{}", item.media)),
            beginning: beginning.map(|text| VisibleText::truncated(&text, LONGEST)),
            is_image: item.content_type == ContentType::Image,
            app_media_id: item
                .app_media_id
                .map(|id| VisibleText::truncated(&id, LONGEST)),
            site: item.site_name,
            status: item.status,
            is_unchecked: item.is_unchecked,
            decided_by: item
                .moderation_type
                .map(|by| decided_by(by, item.moderator)),
            decided: item.moderated_at,
            accepted: item.created_at,
        }
    }
}

/// Characters of a text in a table.
const LONGEST: usize = 120;

fn decided_by(by: ModerationType, moderator: Option<String>) -> String {
    match by {
        ModerationType::Rule => "rules".to_owned(),
        ModerationType::Ai => "analysis".to_owned(),
        ModerationType::Manual => moderator.unwrap_or_else(|| "a person".to_owned()),
    }
}
