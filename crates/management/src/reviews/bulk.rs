//! Bulk decisions: a lead decides about many reviews at once. The lead is shown what would be decided,
//! names the reviews or the number that match, and can undo what is still held.

use std::collections::HashSet;

use domain::{
    audit::Action,
    id::{BulkDecisionId, ReviewId, SiteId, TeamId},
    review::{MOST_IN_BULK, MOST_NAMED_IN_BULK, SHOWN_OF_BULK},
    scope::Scope,
};
use serde_json::json;
pub use store::bulk_decision::{Bulk, Filter};
use store::{
    bulk_decision::{self, Asker, Chosen},
    page::Page,
    review::exposure,
};

use super::{NewDecision, ReviewView, decision, reviewer, team};
use crate::{Caller, Conflict, Noun, Refused, Session, boxed, created, record};

/// What a bulk decision would be about.
#[derive(Debug)]
pub struct Preview {
    /// How many reviews match: the exact number, or [`MOST_IN_BULK`] if there are more.
    pub count: usize,
    /// Whether more match than one bulk decision can be about.
    pub is_too_many: bool,
    /// The most urgent of them, at most [`SHOWN_OF_BULK`].
    pub shown: Vec<ReviewView>,
}

/// Which reviews a bulk decision is about.
#[derive(Clone, Debug)]
pub enum Meant {
    /// These.
    Named(Vec<ReviewId>),
    /// All that match, at most as many as the lead was shown.
    Matching {
        /// Which.
        filter: Filter,
        /// The number that the lead was shown.
        count: usize,
    },
}

/// The reviews that match a filter and that nobody has: how many, and the most urgent of them.
///
/// # Errors
/// The caller may not make bulk decisions.
#[boxed]
pub async fn preview(caller: &Caller, filter: &Filter) -> Result<Preview, Refused> {
    let mut session = caller.read(Scope::ReviewsManage).await?;
    let found = matching(&mut session, filter).await?;
    let mut shown = Vec::with_capacity(found.len().min(SHOWN_OF_BULK));
    for review in found.iter().take(SHOWN_OF_BULK) {
        shown.extend(ReviewView::of(&caller.management, &mut session, *review).await?);
    }
    Ok(Preview {
        count: found.len().min(MOST_IN_BULK),
        is_too_many: found.len() > MOST_IN_BULK,
        shown,
    })
}

/// Notes that the caller has unveiled a picture of a preview: people see how much they have seen.
///
/// # Errors
/// The caller may not make bulk decisions.
#[boxed]
pub async fn unveil(caller: &Caller) -> Result<(), Refused> {
    let mut session = caller.change(Scope::ReviewsManage).await?;
    let (actor, team) = reviewer(&session)?;
    exposure::count_unveiled(session.conn(), actor, team).await?;
    session.commit_unrecorded().await
}

/// Starts a bulk decision. It runs in the background.
///
/// # Errors
/// The caller may not make bulk decisions; too many or no reviews are named; more match than the caller
/// was shown, or than one bulk decision can be about; there is no such policy; a rejection has neither policy nor reason; the team
/// has a bulk decision that runs.
#[boxed]
pub async fn create(caller: &Caller, new: NewDecision, meant: &Meant) -> Result<Bulk, Refused> {
    let mut session = caller.change(Scope::ReviewsManage).await?;
    let (actor, team) = reviewer(&session)?;
    let policy = decision::policy(&mut session, team, &new).await?;
    let reason = decision::reason(&new, policy.as_ref())?;
    let reviews = reviews(&mut session, meant).await?;
    let sites = sites(&session);
    let wanted = bulk_decision::NewBulk {
        by: Asker {
            actor,
            team,
            sites: sites.as_deref(),
        },
        chosen: Chosen {
            reviews: &reviews,
            filter: match meant {
                Meant::Named(_) => None,
                Meant::Matching { filter, .. } => Some(filter),
            },
        },
        ruling: new.ruling,
        policy: policy.as_ref().map(|policy| policy.id),
        reason: &reason,
    };
    let started = bulk_decision::create(session.conn(), wanted).await?;
    let (id, jobs) = started.ok_or_else(|| {
        Refused::conflict(
            Conflict::BulkDecisionRunning,
            "Your team has a bulk decision that has not ended: wait for it, or undo it.",
        )
    })?;
    let made = find(&mut session, id).await?;
    let details = created(&recorded(&made));
    let action = Action::BulkDecisionCreate;
    record(session, action, made.team, made.id, details).await?;
    caller.management.queue.enqueued(&jobs);
    Ok(made)
}

/// The team's bulk decisions, the latest first.
///
/// # Errors
/// The caller may not make bulk decisions.
#[boxed]
pub async fn list(caller: &Caller, page: Page) -> Result<Vec<Bulk>, Refused> {
    let mut session = caller.read(Scope::ReviewsManage).await?;
    let team = team(&session)?;
    Ok(bulk_decision::list(session.conn(), team, page).await?)
}

/// A bulk decision, and how far it has got.
///
/// # Errors
/// The caller may not make bulk decisions; there is no such one within reach.
#[boxed]
pub async fn get(caller: &Caller, bulk: BulkDecisionId) -> Result<Bulk, Refused> {
    let mut session = caller.read(Scope::ReviewsManage).await?;
    find(&mut session, bulk).await
}

/// Stops a bulk decision, and undoes the decisions that are still held. Their reviews wait again.
/// What was told stays.
///
/// # Errors
/// The caller may not make bulk decisions; there is no such one within reach.
#[boxed]
pub async fn cancel(caller: &Caller, bulk: BulkDecisionId) -> Result<Bulk, Refused> {
    let mut session = caller.change(Scope::ReviewsManage).await?;
    let before = find(&mut session, bulk).await?;
    let cancelled = bulk_decision::cancel(session.conn(), bulk).await?;
    if !cancelled.stopped && cancelled.undone == 0 {
        return Ok(before);
    }
    let after = find(&mut session, bulk).await?;
    let details = json!({ "cancelled": recorded(&after) });
    let action = Action::BulkDecisionCancel;
    record(session, action, after.team, after.id, details).await?;
    Ok(after)
}

/// As the audit log shows it: without the name of an author, which an erasure could not remove from there.
fn recorded(bulk: &Bulk) -> Bulk {
    let mut recorded = bulk.clone();
    if let Some(filter) = &mut recorded.filter
        && filter.author.is_some()
    {
        filter.author = "(not recorded)".parse().ok();
    }
    recorded
}

async fn find(session: &mut Session, id: BulkDecisionId) -> Result<Bulk, Refused> {
    let reach = session.reach();
    let found = bulk_decision::find(session.conn(), reach, id).await?;
    found.ok_or(Refused::NotFound(Noun::BulkDecision))
}

/// The reviews that are meant. Named ones that are missing or another team's are left out later,
/// like those that somebody has.
async fn reviews(session: &mut Session, meant: &Meant) -> Result<Vec<ReviewId>, Refused> {
    match meant {
        Meant::Named(named) => {
            if named.is_empty() || named.len() > MOST_NAMED_IN_BULK {
                let message = format!("must have 1 to {MOST_NAMED_IN_BULK} members");
                return Err(Refused::field("review_ids", message));
            }
            let mut seen = HashSet::with_capacity(named.len());
            let named = named.iter().copied();
            Ok(named.filter(|review| seen.insert(*review)).collect())
        }
        Meant::Matching { filter, count } => {
            let found = matching(session, filter).await?;
            if found.len() > *count {
                return Err(Refused::conflict(
                    Conflict::MoreReviewsMatch,
                    format!(
                        "More reviews match than the {count} that you were shown: look again, and send the new number."
                    ),
                ));
            }
            if found.len() > MOST_IN_BULK {
                let message = format!("matches more than {MOST_IN_BULK} reviews: narrow it");
                return Err(Refused::field("filter", message));
            }
            Ok(found)
        }
    }
}

async fn matching(session: &mut Session, filter: &Filter) -> Result<Vec<ReviewId>, Refused> {
    let (actor, team): (_, TeamId) = reviewer(session)?;
    let sites = sites(session);
    let asker = Asker {
        actor,
        team,
        sites: sites.as_deref(),
    };
    Ok(bulk_decision::matching(session.conn(), asker, filter).await?)
}

/// The sites that the caller may decide about; none: all.
fn sites(session: &Session) -> Option<Vec<SiteId>> {
    session.person().and_then(|person| person.sites.clone())
}
