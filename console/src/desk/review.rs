//! One review: the item, why a person is asked, and what the person can do.

use std::sync::Arc;

use askama::Template;
use domain::{
    id::ReviewId,
    media::ContentType,
    review::{ReviewKind, Severity, Tier},
};
use management::{
    Refused,
    media::explanation,
    review_policies::{self, ReviewPolicy},
    reviews::{self, AuthorHistory, ReviewView},
};
use poem::{
    Response,
    http::{StatusCode, header},
};

use super::{Held, lost_or};
use crate::{
    items::{
        metadata::{self, Metadata},
        picture::{self, Picture},
        sentence,
        trace::{self, Rule, Score},
    },
    page::{self, At, Frame},
    problems::Problems,
    router::Answer,
    said::Said,
    time::Moment,
    trouble::Trouble,
    visit::Visit,
};

#[derive(Template)]
#[template(path = "desk/review.html")]
struct Desk<'a> {
    frame: Frame,
    /// The path of the review.
    path: String,
    team: At,
    severity: Severity,
    tier: Tier,
    kind: ReviewKind,
    is_overdue: bool,
    site: String,
    waiting: Moment,
    due: Moment,
    sentence: Option<Said>,
    said: Option<Said>,
    content_url: Option<Said>,
    image: Option<Picture>,
    unseen: Option<String>,
    metadata: Option<Metadata>,
    author: Option<(Said, AuthorHistory)>,
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
    guideline: Option<Said>,
    reason: Said,
    key: Option<i64>,
    is_suggested: bool,
    two_people: bool,
}

struct Note {
    by: String,
    text: Said,
    at: Moment,
}

struct Earlier {
    by: String,
    said: &'static str,
    policy: Option<String>,
    reason: Said,
    at: Moment,
}

pub(crate) async fn show(visit: Arc<Visit>) -> Answer {
    form(&visit, StatusCode::OK, Problems::default()).await
}

/// The page of a review, with what is wrong with what was sent.
pub(super) async fn form(visit: &Visit, status: StatusCode, problems: Problems) -> Answer {
    let team = visit.team()?;
    let caller = visit.caller(Some(team))?;
    let id: ReviewId = visit.id("review")?;
    let shown = match reviews::get(&visit.management, &caller, id).await {
        Ok(shown) => shown,
        // A page cannot claim: the person is led to the start.
        Err(Refused::NotFound(management::Noun::Review)) => {
            let start = At::Team(team).path("desk?lost=yes");
            return Ok(page::see_other(start));
        }
        Err(refused) => return Err(refused.into()),
    };
    let policies = review_policies::of_team(&visit.management, &caller).await?;
    let team = At::Team(team);
    let frame = Frame::of(visit, team, "desk").await?;
    let page = Desk::new(visit, team, frame, shown, &policies, problems);
    Ok(page::html(status, &page))
}

/// Answers with the picture, only to an `<img>` of our own pages.
pub(crate) async fn preview(visit: Arc<Visit>) -> Answer {
    if !visit.is_picture {
        return Err(Trouble::NotAlone);
    }
    let caller = visit.caller(Some(visit.team()?))?;
    let review: ReviewId = visit.id("review")?;
    let jpeg = match reviews::preview(&visit.management, &caller, review).await {
        Ok(jpeg) => jpeg,
        Err(refused) => return lost_or(&visit, refused).await,
    };
    let name = format!("attachment; filename=\"{review}-preview.jpeg\"");
    Ok(Response::builder()
        .content_type("image/jpeg")
        .header(header::CONTENT_DISPOSITION, name)
        .body(jpeg))
}

impl<'a> Desk<'a> {
    fn new(
        visit: &'a Visit,
        team: At,
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
        let (rules, more_rules) = trace::rules(team, found);
        let scores = why.as_ref().and_then(|why| why.scores);
        let places = trace::places(why.as_ref());
        let body = review.body.as_deref();
        let name = |policy: domain::id::ReviewPolicyId| {
            let policy = policies.iter().find(|known| known.id == policy);
            policy.map(|policy| policy.settings.name.to_string())
        };
        Self {
            path: team.path(&format!("desk/{}", review.id)),
            severity: review.severity,
            tier: review.tier,
            kind: review.shown_kind(),
            is_overdue: review.due_at < chrono::Utc::now(),
            sentence: machine.map(|machine| Said::new(&sentence::of(machine, why.as_ref()), &[])),
            said: body.map(|text| Said::new(text, &places)),
            content_url: review.content_url.as_deref().map(|url| Said::new(url, &[])),
            image: picture::of(review.content_type, review.image.as_ref()),
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
                .map(|author| Said::new(author, &[]))
                .zip(author),
            rules,
            more_rules,
            scores: scores.map_or_else(Vec::new, |scores| trace::bars(&scores, found)),
            unchecked: why
                .as_ref()
                .map_or_else(Vec::new, |why| trace::sentences(&why.unchecked)),
            notes: notes
                .into_iter()
                .map(|note| Note {
                    by: note.name.unwrap_or_default(),
                    text: Said::new(&note.body, &[]),
                    at: note.written_at.into(),
                })
                .collect(),
            earlier: review
                .earlier
                .iter()
                .map(|earlier| Earlier {
                    by: earlier.name.clone().unwrap_or_default(),
                    said: match earlier.ruling {
                        domain::media::Ruling::Approve => "approve",
                        domain::media::Ruling::Reject => "reject",
                    },
                    policy: earlier.policy.and_then(name),
                    reason: Said::new(&earlier.reason, &[]),
                    at: earlier.said_at.into(),
                })
                .collect(),
            policies: listed(policies, &review.suggested),
            site: review.site_name,
            waiting: review.waiting_since.into(),
            due: review.due_at.into(),
            held: Held::of(visit),
            is_after_lost: visit.query.has("lost"),
            undo_seconds: visit.query.get("seconds").parse().unwrap_or(0).min(60),
            reason: visit.form.get("reason"),
            note: visit.form.get("note"),
            frame,
            team,
            problems,
        }
    }
}

/// The policies as they are offered: the suggested ones first.
fn listed(policies: &[ReviewPolicy], suggested: &[domain::id::ReviewPolicyId]) -> Vec<Policy> {
    let mut listed: Vec<Policy> = policies
        .iter()
        .map(|policy| {
            let settings = &policy.settings;
            Policy {
                id: policy.id.to_string(),
                name: settings.name.to_string(),
                guideline: Some(settings.guideline.as_str())
                    .filter(|text| !text.is_empty())
                    .map(|text| Said::new(text, &[])),
                reason: Said::new(settings.reason.as_str(), &[]),
                key: settings.key.map(domain::review::PolicyKey::get),
                is_suggested: suggested.contains(&policy.id),
                two_people: settings.two_people,
            }
        })
        .collect();
    listed.sort_by_key(|policy| !policy.is_suggested);
    listed
}
