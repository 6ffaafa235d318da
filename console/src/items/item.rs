//! An item: its content, why it has its status, what became of it, what a person decides about it, its preview, and putting its
//! image on a hash list.

use std::collections::HashMap;

use askama::Template;
use domain::{
    id::{EndpointId, HashListId, MediaId},
    media::{ContentType, ModerationType, Ruling, Seen, Status},
    reason::Reason,
    scope::Scope,
};
use management::{
    Caller, Conflict, Noun, Refused, endpoints,
    hash_lists::{self, VisibleHashList, entries},
    media::{self, Item, NewDecision, explanation},
    sites::{self, Page},
};
use poem::{Response, http::StatusCode};

use super::{
    image::{self, Picture},
    metadata::{self, Metadata},
    timeline::{self, Timeline},
    verdict_details::{self, Trace},
    verdict_reason,
};
use crate::{
    page::{self, Answer, Frame, PageRequest, Problems, pager},
    visible_text::VisibleText,
};

#[derive(Template)]
#[template(path = "items/item.html")]
struct Shown {
    frame: Frame,
    path: String,
    item: Item,
    title: VisibleText,
    app_media_id: Option<VisibleText>,
    site: String,
    /// Why it has its status.
    sentence: VisibleText,
    /// What the machine had said before a person decided.
    machine: Option<VisibleText>,
    said: Option<VisibleText>,
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
    problems: Problems,
    /// Whether somebody else has decided since the page was shown.
    is_outdated: bool,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, Problems::default(), false).await
}

async fn page(request: &PageRequest, problems: Problems, is_outdated: bool) -> Answer {
    let caller = request.caller()?;
    let id: MediaId = request.id("item")?;
    let item = media::get(&caller, id).await?;
    let frame = Frame::of(request, "items").await?;
    let site = sites::get(&caller, item.site).await?;
    let may_decide = media::may_decide(&caller, item.site).await?;
    let endpoints = endpoints(&caller, &item).await?;
    let image = image::of(item.content_type, item.image.as_ref());
    let has_hashes = image.as_ref().is_some_and(|image| image.sha256.is_some());
    let lists = if has_hashes && frame.may(Scope::HashListsWrite) {
        own_lists(&caller).await?
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
    let page = Shown {
        path: frame.path(&format!("items/{id}")),
        title: title(&item),
        app_media_id: item
            .app_media_id
            .as_deref()
            .map(|id| VisibleText::new(id, &[])),
        site: site.settings.name,
        sentence: VisibleText::new(&sentence, &[]),
        machine: before.map(|text| VisibleText::new(&text, &[])),
        said: body.map(|text| VisibleText::new(text, &places)),
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
        trace: verdict_details::of(frame.at, &item, found),
        timeline: timeline::of(frame.at, &item, &endpoints),
        may_decide: may_decide && item.erased_at.is_none(),
        lists,
        frame,
        item,
        problems,
        is_outdated,
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
async fn endpoints(caller: &Caller, item: &Item) -> Result<HashMap<EndpointId, String>, Refused> {
    if item.events.iter().all(|event| event.deliveries.is_empty()) {
        return Ok(HashMap::new());
    }
    let found = endpoints::list(caller, item.site, NAMES).await?;
    let found = found.into_iter();
    Ok(found
        .map(|endpoint| (endpoint.id, endpoint.settings.url))
        .collect())
}

/// Lists whose entries the person can change.
async fn own_lists(caller: &Caller) -> Result<Vec<VisibleHashList>, Refused> {
    let lists = hash_lists::list(caller, NAMES).await?;
    let own = lists.into_iter().filter(|list| list.team.is_some());
    Ok(own.collect())
}

/// Endpoints and hash lists whose names are read.
const NAMES: Page = pager::first(200);

impl Shown {
    fn tone(&self) -> &'static str {
        timeline::outcome(self.item.status).0
    }

    /// How many verdicts the person has seen.
    fn verdicts(&self) -> i16 {
        self.item
            .verdicts
            .first()
            .map_or(0, |verdict| verdict.number)
    }
}

pub(crate) async fn decide(request: PageRequest) -> Answer {
    let refused = match decided(&request).await {
        Ok(Ruling::Approve) => return Ok(done(&request, "approved")),
        Ok(Ruling::Reject) => return Ok(done(&request, "rejected")),
        Err(refused) => refused,
    };
    let is_outdated = matches!(
        refused,
        Refused::Conflict(
            Conflict::MediaChanged | Conflict::VerdictChanged | Conflict::AlreadyDecided,
            _
        )
    );
    let problems = match refused {
        _ if is_outdated => Problems::default().with_status(StatusCode::CONFLICT),
        Refused::Conflict(..) => Problems::of(refused)?.with_status(StatusCode::CONFLICT),
        refused => Problems::of(refused)?,
    };
    page(&request, problems, is_outdated).await
}

async fn decided(request: &PageRequest) -> Result<Ruling, Refused> {
    let (id, caller) = named(request)?;
    let ruling: Ruling = request
        .form
        .choice("decision", "must be `approve` or `reject`")?;
    let reason = Reason::try_from(request.form.get("reason").to_owned());
    let new = NewDecision {
        ruling,
        reason: reason.map_err(|wrong| Refused::field("reason", wrong.to_string()))?,
        seen: Seen {
            status: request.form.get("seen_status").parse().ok(),
            verdict: request.form.get("seen_verdict").parse().ok(),
        },
    };
    media::decide(&caller, id, new).await?;
    Ok(ruling)
}

/// The item that the address of a form names.
fn named(request: &PageRequest) -> Result<(MediaId, Caller), Refused> {
    let id = request
        .id("item")
        .map_err(|_| Refused::NotFound(Noun::Media))?;
    Ok((id, request.caller()?))
}

/// Leads to the page of the item.
fn done(request: &PageRequest, what: &str) -> Response {
    let path = request.path();
    let item = path.rsplit_once('/').map_or(path, |(item, _)| item);
    page::see_other(format!("{item}?done={what}"))
}

pub(crate) async fn add_to_hash_list(request: PageRequest) -> Answer {
    match add(&request).await {
        Ok(()) => Ok(done(&request, "image-listed")),
        Err(refused) => page(&request, Problems::of(refused)?, false).await,
    }
}

async fn add(request: &PageRequest) -> Result<(), Refused> {
    let (item, caller) = named(request)?;
    let list: HashListId = request.form.choice("list", "must be one of the lists")?;
    let note = request.form.note("note")?;
    entries::add_image(&caller, list, item, note).await?;
    Ok(())
}

/// Answers with a small picture, which a process of its own draws anew.
pub(crate) async fn preview(request: PageRequest) -> Answer {
    request.require_picture()?;
    let (item, caller): (MediaId, _) = (request.id("item")?, request.caller()?);
    let jpeg = media::preview(&caller, item).await?;
    Ok(page::preview(item, jpeg))
}
