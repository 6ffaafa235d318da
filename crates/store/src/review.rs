//! Reviews: what waits for people on the desk, who looks at it, and what they say.
//!
//! A review is opened by a trigger when an item gets the status `pending_review`, and ended by one
//! when the item leaves it, so older binaries feed the desk, too. In between, one person at a time
//! *leases* it ([`claim`]). What the person says is *held* ([`say`]): until the time to undo it is
//! over, only the desk knows it. Then a job tells it ([`Ended`]).

pub mod appeal;
pub mod exposure;
pub mod golden;
mod opinion;
pub mod quality;
mod undo_expired;
mod view;

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, MediaId, ReviewId, SiteId, TeamId},
    media::{Standing, Status},
    reach::Reach,
    review::{LEASE, LONGEST_LEASE, MOST_LEASED, MOST_SKIPS, ReviewKind, Severity, Tier},
};
use sqlx::{PgConnection, postgres::types::PgInterval};
use uuid::Uuid;

pub(crate) use self::opinion::hold;
pub use self::{
    opinion::{
        Held, NewNote, NewOpinion, Note, UsedPolicy, add as add_note, has_decided, has_spoken,
        of_media as notes_of, policy, say, undo, undo_seconds,
    },
    undo_expired::{Ended, ReviewDied, held_for},
    view::{AuthorHistory, Earlier, Review, view},
};
use crate::Error;

/// Whose reviews are claimed, and which.
#[derive(Clone, Copy, Debug)]
pub struct NewClaim<'a> {
    /// Who claims: a member or a token.
    pub actor: ActorId,
    /// Of which team.
    pub team: TeamId,
    /// Of which tiers, the first one first.
    pub tiers: &'a [Tier],
    /// Of which sites; none: of all.
    pub sites: Option<&'a [SiteId]>,
    /// How many the actor has afterwards, at most.
    pub most: usize,
}

/// What somebody has after a claim.
#[derive(Clone, Debug, Default)]
pub struct Claimed {
    /// The reviews that the actor had before, the first one first, and then the new ones.
    pub reviews: Vec<ReviewId>,
    /// Whether one of them is new.
    pub has_new: bool,
}

/// The reviews that somebody has, and the most urgent ones that nobody has, until there are enough.
/// The new ones become the actor's. Reviews that the actor has passed on or spoken about are left to
/// others.
pub async fn claim(conn: &mut PgConnection, claim: NewClaim<'_>) -> Result<Claimed, Error> {
    let tiers: Vec<i16> = claim.tiers.iter().map(|tier| tier.number()).collect();
    let sites: Option<Vec<Uuid>> = claim
        .sites
        .map(|sites| sites.iter().map(|site| site.as_uuid()).collect());
    let rows = sqlx::query!(
        r#"select review as "review!", is_new as "is_new!" from take_reviews($1, $2, $3, $4, $5, $6)"#,
        claim.actor.as_uuid(),
        claim.team.as_uuid(),
        &tiers,
        sites.as_deref(),
        i64::try_from(claim.most.min(MOST_LEASED)).unwrap_or(i64::MAX),
        lease(),
    )
    .fetch_all(conn)
    .await?;
    let mut claimed = Claimed::default();
    for row in rows {
        claimed.reviews.push(row.review.into());
        claimed.has_new |= row.is_new;
    }
    Ok(claimed)
}

/// Lists a review as one that somebody has, so that the actor's next claim finds it. Call it after
/// you set `leased_by`. Claims do it themselves.
async fn list(conn: &mut PgConnection, actor: ActorId, review: ReviewId) -> Result<(), Error> {
    sqlx::query!(
        "select list_leases($1, array[$2::uuid])",
        actor.as_uuid(),
        review.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The length of a lease.
fn lease() -> PgInterval {
    PgInterval {
        months: 0,
        days: 0,
        microseconds: i64::try_from(LEASE.as_micros()).unwrap_or(i64::MAX),
    }
}

/// A review that nobody else changes until the transaction ends.
#[derive(Clone, Debug)]
pub struct Locked {
    /// The review.
    pub id: ReviewId,
    /// The item.
    pub media: MediaId,
    /// Its team.
    pub team: TeamId,
    /// Its site.
    pub site: SiteId,
    /// Why a person is asked.
    pub kind: ReviewKind,
    /// Who is asked.
    pub tier: Tier,
    /// Who has it. The lease may be over: as long as nobody else took it, it is still theirs.
    pub leased_by: Option<ActorId>,
    /// Since when.
    pub leased_at: Option<DateTime<Utc>>,
    /// Whether somebody has decided, and can still undo it.
    pub is_held: bool,
    /// The state of the item when the review was opened, with its present status.
    pub seen: Standing,
}

/// Locks a review; none if there is none within reach.
pub async fn lock(
    conn: &mut PgConnection,
    reach: Reach,
    review: ReviewId,
) -> Result<Option<Locked>, Error> {
    let row = sqlx::query!(
        r#"
        select
            t.id, t.media_id, t.team_id, t.site_id, t.kind, t.tier, t.leased_by, t.leased_at,
            t.held_until is not null as "is_held!",
            t.verdict, m.status
        from review_tasks t
        join media m on m.id = t.media_id
        where t.id = $1 and ($2::uuid is null or t.team_id = $2)
        for no key update of t
        "#,
        review.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(|row| {
        Ok(Locked {
            id: row.id.into(),
            media: row.media_id.into(),
            team: row.team_id.into(),
            site: row.site_id.into(),
            kind: row.kind.parse()?,
            tier: tier(row.tier)?,
            leased_by: row.leased_by.map(ActorId::from),
            leased_at: row.leased_at,
            is_held: row.is_held,
            seen: Standing {
                status: row.status.parse::<Status>()?,
                verdicts: u16::try_from(row.verdict).unwrap_or(0),
            },
        })
    })
    .transpose()
}

fn tier(number: i16) -> Result<Tier, Error> {
    Tier::of_number(number)
        .ok_or_else(|| Error::Unreadable(format!("a review has the tier {number}")))
}

/// Renews the lease of a review that the caller has locked, and says until when. None: the person
/// has had it for too long.
pub async fn renew(
    conn: &mut PgConnection,
    review: ReviewId,
) -> Result<Option<DateTime<Utc>>, Error> {
    let longest = i64::try_from(LONGEST_LEASE.as_secs()).unwrap_or(i64::MAX);
    let until = sqlx::query_scalar!(
        r#"
        update review_tasks
        set leased_until = clock_timestamp() + $2
        where id = $1 and clock_timestamp() < leased_at + make_interval(secs => $3::bigint)
        returning leased_until as "until!"
        "#,
        review.as_uuid(),
        lease(),
        longest,
    )
    .fetch_optional(conn)
    .await?;
    Ok(until)
}

/// Passes a review on: it goes to others, and after [`MOST_SKIPS`] of them to the leads. A lead who
/// skips it gets it again after the others that are as urgent: otherwise nobody might be left. Says
/// who is asked from now on.
pub async fn skip(
    conn: &mut PgConnection,
    review: ReviewId,
    actor: ActorId,
) -> Result<Tier, Error> {
    let number = sqlx::query_scalar!(
        "
        update review_tasks
        set
            leased_by = null,
            leased_at = null,
            leased_until = null,
            not_for = case when tier = 1 then not_for || $2::uuid else not_for end,
            skips = least(skips + 1, 1000),
            tier = case when skips + 1 >= $3 then 2 else tier end,
            due_at = case when tier = 1 then due_at else clock_timestamp() end
        where id = $1
        returning tier
        ",
        review.as_uuid(),
        actor.as_uuid(),
        i32::from(MOST_SKIPS),
    )
    .fetch_one(conn)
    .await?;
    tier(number)
}

/// Passes a review up to the leads.
pub async fn escalate(conn: &mut PgConnection, review: ReviewId) -> Result<(), Error> {
    sqlx::query!(
        "
        update review_tasks
        set leased_by = null, leased_at = null, leased_until = null, tier = 2
        where id = $1
        ",
        review.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// No more than this many reviews of a team are counted.
const COUNTED: i64 = 100_000;

/// The reviews of a site, of one severity, for one tier.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The site.
    pub site: SiteId,
    /// How urgent they are.
    pub severity: Severity,
    /// Who is asked.
    pub tier: Tier,
    /// How many there are, those that somebody has or has decided included.
    pub reviews: i64,
    /// How many of them should have been decided by now.
    pub overdue: i64,
    /// Since when the first of them has waited.
    pub oldest: DateTime<Utc>,
}

/// What waits in a team, the most urgent first, as this person sees it: reviews that only somebody
/// else gets are not counted. If there is more than [`COUNTED`], what is least urgent is not
/// counted.
///
/// The person's own ones are counted like any other, also for a while after the person has passed
/// them on. Otherwise the numbers would tell which these are.
pub async fn waiting(
    conn: &mut PgConnection,
    team: TeamId,
    person: Option<ActorId>,
) -> Result<Vec<Waiting>, Error> {
    let rows = sqlx::query!(
        r#"
        select
            site_id,
            severity,
            tier,
            count(*) as "reviews!",
            count(*) filter (where due_at < now()) as "overdue!",
            min(waiting_since) as "oldest!"
        from (
            select site_id, severity, tier, due_at, waiting_since
            from review_tasks
            where
                team_id = $1
                and (only_for is null or only_for = $3 and (tier = 1 and $3 <> all(not_for) or due_at > now()))
            order by severity desc
            limit $2
        ) t
        group by site_id, severity, tier
        order by severity desc, tier desc, site_id
        "#,
        team.as_uuid(),
        COUNTED,
        person.map(ActorId::as_uuid),
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            let severity = Severity::of_number(row.severity);
            Ok(Waiting {
                site: row.site_id.into(),
                severity: severity.ok_or_else(|| {
                    Error::Unreadable(format!("a review has the severity {}", row.severity))
                })?,
                tier: tier(row.tier)?,
                reviews: row.reviews,
                overdue: row.overdue,
                oldest: row.oldest,
            })
        })
        .collect()
}
