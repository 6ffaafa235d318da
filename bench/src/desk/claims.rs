//! Claims: the statement itself, and the operation of the management interface. Every claimed review is decided, as people do.

use std::time::Instant;

use anyhow::{Context as _, ensure};
use domain::{
    id::{ActorId, ReviewId, TeamId},
    media::Ruling,
    reach::Reach,
    reason::Reason,
    review::Tier,
};
use futures::future::try_join_all;
use serde::Deserialize;
use serde_json::json;
use sqlx::{Connection as _, PgConnection, PgPool, postgres::PgPoolOptions};
use store::review::{self, NewClaim, NewOpinion};
use uuid::Uuid;

use super::{
    fill::{Filled, Moderator},
    ledger::Ledger,
};
use crate::{
    cluster::Role,
    http::{self, Client},
    latency::{Latencies, Percentiles},
    load::{Ticks, accepted},
    stack::Stack,
};

/// What claims need.
pub(super) struct Claims<'a> {
    stack: &'a Stack,
    pub(super) filled: &'a Filled,
    pub(super) ledger: &'a Ledger,
    pool: PgPool,
}

#[derive(Deserialize)]
pub(super) struct Claimed {
    pub(super) data: Vec<ClaimedReview>,
}

#[derive(Deserialize)]
pub(super) struct ClaimedReview {
    pub(super) id: Uuid,
}

impl<'a> Claims<'a> {
    /// With a connection for each moderator. Each has claimed once: the first claim of a connection
    /// compiles the functions, which takes several milliseconds, and processes keep their
    /// connections for half an hour.
    pub(super) async fn new(
        stack: &'a Stack,
        filled: &'a Filled,
        ledger: &'a Ledger,
    ) -> anyhow::Result<Self> {
        let pool = PgPoolOptions::new()
            .max_connections(u32::try_from(filled.moderators.len())?)
            .connect(&stack.environment.cluster.url(Role::Gatehouse))
            .await?;
        let warming = filled.moderators.iter().map(async |person| {
            let mut tx = pool.begin().await?;
            review::claim(&mut tx, one(filled.team, person)).await?;
            anyhow::Ok(tx)
        });
        // All of them at once, so that no two use the same connection.
        for tx in try_join_all(warming).await? {
            tx.rollback().await?;
        }
        Ok(Self {
            stack,
            filled,
            ledger,
            pool,
        })
    }

    /// Claims by the store's function with each tick. Paced claims are measured from when they were due.
    pub(super) async fn in_sql(
        &self,
        ticks: &Ticks,
        is_paced: bool,
    ) -> anyhow::Result<Percentiles> {
        let people = self.filled.moderators.iter().map(|person| async move {
            // The wait for a connection is not the claim's.
            let mut conn = self.pool.acquire().await?;
            let actor = ActorId::from(person.token);
            let mut latencies = Latencies::new();
            while let Some(tick) = ticks.next().await {
                let begun = if is_paced { tick.due } else { Instant::now() };
                let team = self.filled.team;
                let claimed = review::claim(&mut conn, one(team, person)).await?;
                latencies.record(begun.elapsed());
                let review = claimed
                    .reviews
                    .first()
                    .context("nothing was left to claim")?;
                self.ledger.enter(review.as_uuid(), person.token);
                decide(&mut conn, team, *review, actor).await?;
            }
            anyhow::Ok(latencies)
        });
        merged(&try_join_all(people).await?)
    }

    /// Claims over HTTP with each tick. Paced claims are measured from when they were due.
    pub(super) async fn over_http(
        &self,
        ticks: &Ticks,
        is_paced: bool,
    ) -> anyhow::Result<Percentiles> {
        let address = self.stack.apis[0].address;
        let people = self.filled.moderators.iter().map(|person| async move {
            let mut client = Client::new(address);
            let claim = claim_request(person);
            let mut latencies = Latencies::new();
            while let Some(tick) = ticks.next().await {
                let begun = if is_paced { tick.due } else { Instant::now() };
                let answer = client.send(&claim).await.map_err(std::io::Error::from)?;
                latencies.record(begun.elapsed());
                accepted(&answer)?;
                let Claimed { data } = serde_json::from_slice(&answer.body)?;
                ensure!(data.len() == 1, "{} reviews were claimed", data.len());
                self.ledger.enter(data[0].id, person.token);
                let decision = decision_request(person, data[0].id);
                let answer = client.send(&decision).await.map_err(std::io::Error::from)?;
                accepted(&answer)?;
            }
            anyhow::Ok(latencies)
        });
        merged(&try_join_all(people).await?)
    }

    /// Approves what somebody has, without the interface.
    pub(super) async fn approve(&self, person: Uuid, review: Uuid) -> anyhow::Result<()> {
        let mut conn = self.pool.acquire().await?;
        decide(&mut conn, self.filled.team, review.into(), person.into()).await
    }
}

/// A claim of one review.
fn one(team: TeamId, person: &Moderator) -> NewClaim<'static> {
    NewClaim {
        actor: person.token.into(),
        team,
        tiers: &[Tier::Everybody],
        sites: None,
        most: 1,
    }
}

/// A rendered claim of one review.
pub(super) fn claim_request(person: &Moderator) -> Vec<u8> {
    http::managed(
        "POST",
        "/reviews/claim",
        &person.secret,
        Some(&json!({ "limit": 1 })),
    )
}

/// A rendered approval.
pub(super) fn decision_request(person: &Moderator, review: Uuid) -> Vec<u8> {
    let path = format!("/reviews/{review}/decision");
    http::managed(
        "POST",
        &path,
        &person.secret,
        Some(&json!({ "decision": "approve" })),
    )
}

fn merged(all: &[Latencies]) -> anyhow::Result<Percentiles> {
    let mut merged = Latencies::new();
    for own in all {
        merged.merge(own);
    }
    ensure!(merged.count() > 0, "nothing was measured");
    Ok(merged.percentiles())
}

/// Holds an approval, as the interface does.
async fn decide(
    conn: &mut PgConnection,
    team: TeamId,
    review: ReviewId,
    actor: ActorId,
) -> anyhow::Result<()> {
    let reason = Reason::try_from("Approved by a moderator.".to_owned())?;
    let mut tx = conn.begin().await?;
    let locked = review::lock(&mut tx, Reach::Team(team), review).await?;
    let locked = locked.context("a claimed review is gone")?;
    ensure!(
        locked.leased_by == Some(actor),
        "a claimed review is somebody else's"
    );
    let undo = review::undo_seconds(&mut tx, locked.site).await?;
    let new = NewOpinion {
        review: &locked,
        by: actor,
        ruling: Ruling::Approve,
        policy: None,
        reason: &reason,
        undo,
        bulk: None,
    };
    review::say(&mut tx, new).await?;
    Ok(tx.commit().await?)
}
