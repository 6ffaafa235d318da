//! Leases of reviews: one person at a time looks at each.

use domain::{
    id::{ActorId, ReviewId, SiteId, TeamId},
    review::{LEASE, Tier},
};
use sqlx::{PgConnection, postgres::types::PgInterval};
use uuid::Uuid;

use crate::Error;

/// The reviews that somebody has, the first one first.
pub async fn leased(
    conn: &mut PgConnection,
    actor: ActorId,
    team: TeamId,
) -> Result<Vec<ReviewId>, Error> {
    let ids = sqlx::query_scalar!(
        "
        select id
        from review_tasks
        where leased_by = $1 and team_id = $2 and leased_until > clock_timestamp() and held_until is null
        order by leased_at, id
        ",
        actor.as_uuid(),
        team.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    Ok(ids.into_iter().map(ReviewId::from).collect())
}

/// Leases the most urgent reviews of a tier that nobody has: at most `most`, of these sites only,
/// if any are named. Reviews that the actor has passed on or spoken about are left to others.
pub async fn claim(
    conn: &mut PgConnection,
    actor: ActorId,
    team: TeamId,
    tier: Tier,
    sites: Option<&[SiteId]>,
    most: usize,
) -> Result<Vec<ReviewId>, Error> {
    let sites: Option<Vec<Uuid>> =
        sites.map(|sites| sites.iter().map(|site| site.as_uuid()).collect());
    let ids = sqlx::query_scalar!(
        r#"select claim_reviews($1, $2, $3, $4, $5, $6) as "id!""#,
        actor.as_uuid(),
        team.as_uuid(),
        tier.number(),
        sites.as_deref(),
        i64::try_from(most).unwrap_or(i64::MAX),
        lease(),
    )
    .fetch_all(conn)
    .await?;
    Ok(ids.into_iter().map(ReviewId::from).collect())
}

/// The length of a lease.
pub(super) fn lease() -> PgInterval {
    PgInterval {
        months: 0,
        days: 0,
        microseconds: i64::try_from(LEASE.as_micros()).unwrap_or(i64::MAX),
    }
}
