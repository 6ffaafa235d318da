//! An item: its content, why it has its status, what became of it, and what a person decides about it.

use std::collections::HashMap;

use askama::Template;
use domain::{
    id::{EndpointId, MediaId},
    media::{ContentType, ModerationType, Status},
    scope::Scope,
};
use management::{
    Caller, Refused, endpoints,
    hash_lists::{self, VisibleHashList},
    media::{self, Item, explanation},
    sites::{self, Page},
};
use poem::http::StatusCode;

use super::{
    image::{self, Picture},
    metadata::{self, Metadata},
    timeline::{self, Timeline},
    verdict_details::{self, Trace},
    verdict_reason,
};
use crate::{
    page::{self, Answer, Area, Frame, PageRequest, Problems},
    time::Moment,
    visible_text::VisibleText,
};

/// Endpoints and hash lists whose names are read.
const NAMED: i64 = 200;

#[derive(Template)]
#[template(path = "items/item.html")]
struct Shown<'a> {
    frame: Frame,
    path: String,
    item: Item,
    title: VisibleText,
    app_media_id: Option<VisibleText>,
    site: String,
    accepted: Moment,
    /// Why it has its status.
    sentence: VisibleText,
    /// What the machine had said before a person decided.
    machine: Option<VisibleText>,
    said: Option<VisibleText>,
    /// When its content was removed.
    removed: Option<Moment>,
    /// Whether it was removed by an erasure.
    erased: bool,
    content_url: Option<VisibleText>,
    image: Option<Picture>,
    /// Why its image cannot be shown.
    unseen: Option<Refused>,
    metadata: Option<Metadata>,
    trace: Trace,
    timeline: Timeline,
    may_decide: bool,
    /// Lists to which its image can be added.
    lists: Vec<VisibleHashList>,
    form: Form<'a>,
}

/// The state of the forms on the page.
#[derive(Default)]
pub(super) struct Form<'a> {
    pub(super) status: StatusCode,
    pub(super) problems: Problems,
    /// What was typed.
    pub(super) reason: &'a str,
    pub(super) note: &'a str,
    pub(super) list: &'a str,
    /// Whether somebody else has decided since the page was shown.
    pub(super) is_outdated: bool,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, Form::default()).await
}

/// The page of an item with its forms in this state.
pub(super) async fn page(request: &PageRequest, form: Form<'_>) -> Answer {
    let team = request.team()?;
    let caller = request.caller()?;
    let team = Area::Team(team);
    let id: MediaId = request.id("item")?;
    let item = media::get(&request.management, &caller, id).await?;
    let frame = Frame::of(request, "items").await?;
    let site = sites::get(&request.management, &caller, item.site).await?;
    let may_decide = media::may_decide(&request.management, &caller, item.site).await?;
    let endpoints = endpoints(request, &caller, &item).await?;
    let image = image::of(item.content_type, item.image.as_ref());
    let has_hashes = image.as_ref().is_some_and(|image| image.sha256.is_some());
    let lists = if has_hashes && frame.may(Scope::HashListsWrite) {
        own_lists(request, &caller).await?
    } else {
        Vec::new()
    };

    let mut verdicts = item.verdicts.iter();
    let last = verdicts.clone().next();
    let machine = verdicts.find(|verdict| verdict.moderation_type != ModerationType::Manual);
    let found = machine.and_then(explanation::of);
    let found = found.as_ref();
    let sentence = last.map_or_else(
        || verdict_reason::PENDING.to_owned(),
        |verdict| verdict_reason::of(verdict, explanation::of(verdict).as_ref()),
    );
    let before = machine.filter(|of| last.is_some_and(|is| is.number != of.number));
    let before = before.map(|verdict| verdict_reason::of(verdict, found));
    let places = verdict_details::places(found);
    let body = item.body.as_deref();
    let status = form.status;
    let page = Shown {
        path: team.path(&format!("items/{id}")),
        title: title(&item),
        app_media_id: item
            .app_media_id
            .as_deref()
            .map(|id| VisibleText::new(id, &[])),
        site: site.settings.name,
        accepted: item.created_at.into(),
        sentence: VisibleText::new(&sentence, &[]),
        machine: before.map(|text| VisibleText::new(&text, &[])),
        said: body.map(|text| VisibleText::new(text, &places)),
        removed: item.content_removed_at.map(Moment::from),
        erased: item.erased_at.is_some(),
        content_url: item
            .content_url
            .as_deref()
            .map(|url| VisibleText::new(url, &[])),
        image,
        unseen: media::obstacle(&request.management, &item),
        metadata: item
            .metadata
            .as_ref()
            .and_then(|json| metadata::of(json.get())),
        trace: verdict_details::of(team, &item, found),
        timeline: timeline::of(team, &item, &endpoints),
        may_decide: may_decide && item.erased_at.is_none(),
        lists,
        frame,
        item,
        form,
    };
    Ok(page::html(page.problems.status(), &page))
}

/// What the application calls it.
fn title(item: &Item) -> VisibleText {
    match (&item.app_media_id, item.content_type) {
        (Some(id), _) => VisibleText::truncated(id, 100),
        (None, ContentType::Image) => VisibleText::new("Image", &[]),
        (None, ContentType::Text) => VisibleText::new("Text", &[]),
    }
}

/// The URLs of the endpoints of the item's site.
async fn endpoints(
    request: &PageRequest,
    caller: &Caller,
    item: &Item,
) -> Result<HashMap<EndpointId, String>, Refused> {
    if item.events.iter().all(|event| event.deliveries.is_empty()) {
        return Ok(HashMap::new());
    }
    let found = endpoints::list(&request.management, caller, item.site, NAMES).await?;
    let found = found.into_iter();
    Ok(found
        .map(|endpoint| (endpoint.id, endpoint.settings.url))
        .collect())
}

/// Lists whose entries the person can change.
async fn own_lists(
    request: &PageRequest,
    caller: &Caller,
) -> Result<Vec<VisibleHashList>, Refused> {
    let lists = hash_lists::list(&request.management, caller, NAMES).await?;
    let own = lists.into_iter().filter(|list| list.team.is_some());
    Ok(own.collect())
}

const NAMES: Page = Page {
    after: None,
    limit: NAMED,
};

impl Shown<'_> {
    /// The tone of its status.
    fn tone(&self) -> &'static str {
        match self.item.status {
            Status::Pending => "",
            Status::Approved => "ok",
            Status::Rejected => "no",
            Status::PendingReview => "warn",
        }
    }

    /// How many verdicts the person has seen.
    fn verdicts(&self) -> i16 {
        self.item
            .verdicts
            .first()
            .map_or(0, |verdict| verdict.number)
    }
}
