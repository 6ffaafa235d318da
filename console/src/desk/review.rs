//! One review: the item, why a person is asked, and what the person does with it.

use askama::Template;
use chrono::{DateTime, Utc};
use domain::{
    id::{ReviewId, ReviewPolicyId},
    media::{ContentType, Ruling},
    reason::Reason,
    review::{NoteText, PolicyKey, ReviewKind, Severity, Tier},
};
use management::{
    Caller, Conflict, Refused,
    media::explanation,
    review_policies::{self, ReviewPolicy},
    reviews::{self, AuthorHistory, NewDecision, ReviewView},
};

use super::{Held, done, is_lost, lost_or, next};
use crate::{
    items::{
        image::{self, Picture},
        metadata::{self, Metadata},
        verdict_details::{self, Rule, Score},
        verdict_reason,
    },
    page::{self, Answer, Frame, PageError, PageRequest, Problems},
    visible_text::VisibleText,
};

#[derive(Template)]
#[template(path = "desk/review.html")]
struct Desk<'a> {
    frame: Frame,
    /// The path of the review.
    path: String,
    severity: Severity,
    tier: Tier,
    kind: ReviewKind,
    is_overdue: bool,
    site: String,
    waiting: DateTime<Utc>,
    due: DateTime<Utc>,
    sentence: Option<VisibleText>,
    said: Option<VisibleText>,
    content_url: Option<VisibleText>,
    image: Option<Picture>,
    unseen: Option<String>,
    metadata: Option<Metadata>,
    author: Option<(VisibleText, AuthorHistory)>,
    rules: Vec<Rule>,
    more_rules: usize,
    scores: Vec<Score>,
    unchecked: Vec<String>,
    notes: Vec<Note>,
    earlier: Vec<Earlier>,
    policies: Vec<Policy>,
    /// What was decided before, and can be undone for a while.
    held: Option<Held>,
    /// Whether the review before was lost to somebody else.
    is_after_lost: bool,
    undo_seconds: u32,
    problems: Problems,
    reason: &'a str,
    note: &'a str,
}

/// A policy that an item can be rejected by.
struct Policy {
    id: String,
    name: String,
    guideline: Option<VisibleText>,
    reason: VisibleText,
    key: Option<i64>,
    is_suggested: bool,
    two_people: bool,
}

struct Note {
    by: String,
    text: VisibleText,
    at: DateTime<Utc>,
}

struct Earlier {
    by: String,
    said: &'static str,
    policy: Option<String>,
    reason: VisibleText,
    at: DateTime<Utc>,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    form(&request, Problems::default()).await
}

/// The page of a review, with what is wrong with what was sent.
async fn form(request: &PageRequest, problems: Problems) -> Answer {
    let caller = request.caller()?;
    let id: ReviewId = request.id("review")?;
    let shown = match reviews::get(&caller, id).await {
        Ok(shown) => shown,
        // A page cannot claim: the person is led to the start.
        Err(Refused::NotFound(management::Noun::Review)) => {
            return request.lead_to("desk?lost=yes");
        }
        Err(refused) => return Err(refused.into()),
    };
    let policies = review_policies::of_team(&caller).await?;
    let frame = Frame::of(request, "desk").await?;
    let page = Desk::new(request, frame, shown, &policies, problems);
    Ok(page::html(page.problems.status(), &page))
}

/// Answers with the picture, only to an `<img>` of our own pages.
pub(crate) async fn preview(request: PageRequest) -> Answer {
    request.require_picture()?;
    let (caller, review) = named(&request)?;
    match reviews::preview(&caller, review).await {
        Ok(jpeg) => Ok(page::preview(review, jpeg)),
        Err(refused) => lost_or(&request, refused).await,
    }
}

impl<'a> Desk<'a> {
    fn new(
        request: &'a PageRequest,
        frame: Frame,
        shown: ReviewView,
        policies: &[ReviewPolicy],
        problems: Problems,
    ) -> Self {
        let ReviewView {
            review,
            author,
            notes,
            unseen,
        } = shown;
        let why = review.machine.as_ref().and_then(explanation::of);
        let machine = review.machine.as_ref();
        let found = why.as_ref().map_or(&[][..], |why| &why.found);
        let (rules, more_rules) = verdict_details::rules(frame.at, found);
        let scores = why.as_ref().and_then(|why| why.scores);
        let places = verdict_details::places(why.as_ref());
        let body = review.body.as_deref();
        let name = |policy: ReviewPolicyId| {
            let policy = policies.iter().find(|known| known.id == policy);
            policy.map(|policy| policy.settings.name.to_string())
        };
        Self {
            path: frame.path(&format!("desk/{}", review.id)),
            severity: review.severity,
            tier: review.tier,
            kind: review.shown_kind(),
            is_overdue: review.due_at < chrono::Utc::now(),
            sentence: machine
                .map(|machine| VisibleText::new(&verdict_reason::of(machine, why.as_ref()), &[])),
            said: body.map(|text| VisibleText::new(text, &places)),
            content_url: review
                .content_url
                .as_deref()
                .map(|url| VisibleText::new(url, &[])),
            image: image::of(review.content_type, review.image.as_ref()),
            unseen: unseen
                .filter(|_| review.content_type == ContentType::Image)
                .map(|unseen| unseen.to_string()),
            metadata: review
                .metadata
                .as_ref()
                .and_then(|json| metadata::of(json.get())),
            author: review
                .author
                .as_deref()
                .map(|author| VisibleText::new(author, &[]))
                .zip(author),
            rules,
            more_rules,
            scores: scores.map_or_else(Vec::new, |scores| verdict_details::bars(&scores, found)),
            unchecked: why
                .as_ref()
                .map_or_else(Vec::new, |why| verdict_details::sentences(&why.unchecked)),
            notes: notes
                .into_iter()
                .map(|note| Note {
                    by: note.name.unwrap_or_default(),
                    text: VisibleText::new(&note.body, &[]),
                    at: note.written_at,
                })
                .collect(),
            earlier: review
                .earlier
                .iter()
                .map(|earlier| Earlier {
                    by: earlier.name.clone().unwrap_or_default(),
                    said: match earlier.ruling {
                        Ruling::Approve => "approve",
                        Ruling::Reject => "reject",
                    },
                    policy: earlier.policy.and_then(name),
                    reason: VisibleText::new(&earlier.reason, &[]),
                    at: earlier.said_at,
                })
                .collect(),
            policies: listed(policies, &review.suggested),
            site: review.site_name,
            waiting: review.waiting_since,
            due: review.due_at,
            held: Held::of(request),
            is_after_lost: request.query.has("lost"),
            undo_seconds: request.query.get("seconds").parse().unwrap_or(0).min(60),
            reason: request.form.get("reason"),
            note: request.form.get("note"),
            frame,
            problems,
        }
    }
}

/// The policies as they are offered: the suggested ones first.
fn listed(policies: &[ReviewPolicy], suggested: &[ReviewPolicyId]) -> Vec<Policy> {
    let mut listed: Vec<Policy> = policies
        .iter()
        .map(|policy| {
            let settings = &policy.settings;
            Policy {
                id: policy.id.to_string(),
                name: settings.name.to_string(),
                guideline: Some(settings.guideline.as_str())
                    .filter(|text| !text.is_empty())
                    .map(|text| VisibleText::new(text, &[])),
                reason: VisibleText::new(settings.reason.as_str(), &[]),
                key: settings.key.map(PolicyKey::get),
                is_suggested: suggested.contains(&policy.id),
                two_people: settings.two_people,
            }
        })
        .collect();
    listed.sort_by_key(|policy| !policy.is_suggested);
    listed
}

/// Decides, and leads to the next review.
pub(crate) async fn decide(request: PageRequest) -> Answer {
    match decided(&request).await {
        Ok(held) => {
            let left = held.until - chrono::Utc::now();
            let query = format!(
                "decided={}&as={}&seconds={}",
                held.review,
                held.ruling,
                left.num_seconds().clamp(0, 60)
            );
            next(&request, &query).await
        }
        Err(refused) => again_or_on(&request, refused).await,
    }
}

async fn decided(request: &PageRequest) -> Result<reviews::Held, Refused> {
    let (caller, id) = named(request).map_err(|_| Refused::NotFound(management::Noun::Review))?;
    let ruling: Ruling = request
        .form
        .choice("decision", "must be `approve` or `reject`")?;
    let policy: Option<ReviewPolicyId> = match request.form.get("policy") {
        "" => None,
        policy => {
            let unknown = |_| Refused::field("policy_id", "is no policy of your team");
            Some(policy.parse().map_err(unknown)?)
        }
    };
    let reason = request.form.get("reason").trim();
    // One page has buttons for all decisions, and one field. A reason that was typed is for rejections.
    let reason = match (ruling, reason) {
        (_, "") => None,
        (Ruling::Approve | Ruling::Reject, text) => {
            let text = Reason::try_from(text.to_owned());
            Some(text.map_err(|wrong| Refused::field("reason", wrong.to_string()))?)
        }
    };
    let new = NewDecision {
        ruling,
        policy,
        reason,
    };
    reviews::decide(&caller, id, new).await
}

/// Undoes what the person has just decided, and shows it again.
pub(crate) async fn undo(request: PageRequest) -> Answer {
    let (caller, id) = named(&request)?;
    match reviews::undo(&caller, id).await {
        Ok(shown) => request.lead_to(format!("desk/{}", shown.review.id)),
        Err(Refused::Conflict(Conflict::ReviewTold, _)) => next(&request, "late=yes").await,
        Err(refused) => lost_or(&request, refused).await,
    }
}

pub(crate) async fn skip(request: PageRequest) -> Answer {
    let (caller, id) = named(&request)?;
    match reviews::skip(&caller, id).await {
        Ok(()) => next(&request, "").await,
        Err(refused) => lost_or(&request, refused).await,
    }
}

pub(crate) async fn escalate(request: PageRequest) -> Answer {
    let (caller, id) = named(&request)?;
    let note = match request.form.get("note").trim() {
        "" => Ok(None),
        text => NoteText::try_from(text.to_owned())
            .map(Some)
            .map_err(|wrong| Refused::field("note", wrong.to_string())),
    };
    let escalated = match note {
        Ok(note) => reviews::escalate(&caller, id, note.as_ref()).await,
        Err(refused) => Err(refused),
    };
    match escalated {
        Ok(()) => next(&request, "").await,
        Err(refused) => again_or_on(&request, refused).await,
    }
}

pub(crate) async fn note(request: PageRequest) -> Answer {
    let (caller, id) = named(&request)?;
    let note = NoteText::try_from(request.form.get("note").trim().to_owned());
    let note = note.map_err(|wrong| Refused::field("note", wrong.to_string()));
    let written = match note {
        Ok(note) => reviews::add_note(&caller, id, &note).await,
        Err(refused) => Err(refused),
    };
    match written {
        Ok(_) => request.lead_to(format!("desk/{id}")),
        Err(refused) => again_or_on(&request, refused).await,
    }
}

/// Keeps the review. A script asks for it while the person is active.
pub(crate) async fn renew(request: PageRequest) -> Answer {
    let (caller, id) = named(&request)?;
    reviews::renew(&caller, id).await?;
    Ok(done())
}

/// Counts an unveiled picture. A script tells of it.
pub(crate) async fn unveil(request: PageRequest) -> Answer {
    let (caller, id) = named(&request)?;
    reviews::unveil(&caller, id).await?;
    Ok(done())
}

/// The review that the address names.
fn named(request: &PageRequest) -> Result<(Caller, ReviewId), PageError> {
    Ok((request.caller()?, request.id("review")?))
}

/// Shows the review again with what is wrong, or leads on if it is lost.
async fn again_or_on(request: &PageRequest, refused: Refused) -> Answer {
    if is_lost(&refused) {
        return next(request, "lost=yes").await;
    }
    form(request, Problems::of(refused)?).await
}
