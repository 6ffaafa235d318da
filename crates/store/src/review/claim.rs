//! Leases of reviews: one person at a time looks at each.

use domain::{
    id::{ActorId, ReviewId, SiteId, TeamId},
    review::{LEASE, MOST_LEASED, Tier},
};
use sqlx::{PgConnection, postgres::types::PgInterval};
use uuid::Uuid;

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
pub(super) async fn list(
    conn: &mut PgConnection,
    actor: ActorId,
    review: ReviewId,
) -> Result<(), Error> {
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
pub(super) fn lease() -> PgInterval {
    PgInterval {
        months: 0,
        days: 0,
        microseconds: i64::try_from(LEASE.as_micros()).unwrap_or(i64::MAX),
    }
}
