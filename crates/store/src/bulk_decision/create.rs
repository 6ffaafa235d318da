//! Starting a bulk decision: its row with the reviews that it is about, and the job of its first slice.

use domain::{
    id::{BulkDecisionId, ReviewId, ReviewPolicyId},
    media::Ruling,
    reason::Reason,
};
use queue::NewJobs;
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use super::{Asker, Filter};
use crate::{Error, chain, jobs};

/// The reviews that a bulk decision is about.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'a> {
    /// The reviews, in the order in which they are decided. None twice.
    pub reviews: &'a [ReviewId],
    /// The filter that chose them; none if they were named.
    pub filter: Option<&'a Filter>,
}

/// A bulk decision to make.
#[derive(Clone, Copy, Debug)]
pub struct NewBulk<'a> {
    /// Who decides.
    pub by: Asker<'a>,
    /// About what.
    pub chosen: Chosen<'a>,
    /// What.
    pub ruling: Ruling,
    /// By which policy.
    pub policy: Option<ReviewPolicyId>,
    /// Why.
    pub reason: &'a Reason,
}

/// Creates a bulk decision with its first job. Tell the queue of the job after the commit. None: the
/// team has one that runs. Run it in a transaction, and roll the transaction back if the answer is
/// none.
pub async fn create(
    conn: &mut PgConnection,
    new: NewBulk<'_>,
) -> Result<Option<(BulkDecisionId, NewJobs)>, Error> {
    let id = BulkDecisionId::from(Uuid::now_v7());
    let reviews: Vec<Uuid> = new.chosen.reviews.iter().map(|id| id.as_uuid()).collect();
    let sites = new.by.site_ids();
    let inserted = sqlx::query!(
        "
        insert into bulk_decisions (id, team_id, ruling, policy_id, reason, filter, review_ids, sites, total, created_by)
        values ($1, $2, $3, $4, $5, $6, $7, $8, cardinality($7::uuid []), $9)
        ",
        id.as_uuid(),
        new.by.team.as_uuid(),
        new.ruling.as_str(),
        new.policy.map(ReviewPolicyId::as_uuid),
        new.reason.as_str(),
        new.chosen.filter.map(Json) as Option<Json<&Filter>>,
        &reviews,
        sites.as_deref(),
        new.by.actor.as_uuid(),
    )
    .execute(&mut *conn)
    .await;
    if !chain::is_inserted(inserted, "bulk_decisions_running_key")? {
        return Ok(None);
    }
    let jobs = chain::begin(conn, jobs::decide_next(id, new.by.team)).await?;
    Ok(Some((id, jobs)))
}
