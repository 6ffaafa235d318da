//! What the holder of a lease does without deciding: goes on, passes the review on, or passes it up.

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, MediaId, ReviewId, SiteId, TeamId},
    media::{Standing, Status},
    reach::Reach,
    review::{LONGEST_LEASE, MOST_SKIPS, ReviewKind, Tier},
};
use sqlx::PgConnection;

use super::claim::lease;
use crate::Error;

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

pub(super) fn tier(number: i16) -> Result<Tier, Error> {
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
