//! What is told when the time to undo is over, locked.

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, MediaId, OpinionId, ReviewId, SiteId},
    media::{Ruling, Standing, Status},
    reason::Reason,
    review::{ReviewKind, Tier},
};
use sqlx::PgConnection;
use uuid::Uuid;

/// An opinion whose hold is over, and the review that it belongs to.
pub(super) struct Spoken {
    pub(super) id: OpinionId,
    pub(super) review: ReviewId,
    pub(super) media: MediaId,
    pub(super) actor: ActorId,
    pub(super) ruling: Ruling,
    pub(super) policy_id: Option<Uuid>,
    pub(super) policy_code: Option<String>,
    pub(super) reason: Reason,
    /// The state of the item when the review was opened.
    pub(super) seen: Standing,
    /// Its present state.
    pub(super) standing: Standing,
    pub(super) site: SiteId,
    pub(super) kind: ReviewKind,
    /// Whether the review is still there.
    pub(super) is_open: bool,
    /// The review's, or that of the lead who decided about many reviews at once.
    pub(super) tier: Tier,
    /// The bulk decision that it belongs to.
    pub(super) bulk: Option<Uuid>,
    pub(super) needs_two: bool,
    /// Since when it has waited.
    pub(super) waiting_since: DateTime<Utc>,
    /// What another person said, which waits for a second one.
    pub(super) before: Option<Before>,
}

/// What another person said.
#[derive(Clone, Copy)]
pub(super) struct Before {
    pub(super) id: OpinionId,
    pub(super) actor: Uuid,
    pub(super) ruling: Ruling,
}

/// Locks items, then reviews, then opinions. Verdicts from elsewhere lock in the same order.
pub(super) async fn load(
    conn: &mut PgConnection,
    opinions: &[Uuid],
) -> Result<Vec<Spoken>, sqlx::Error> {
    lock_media(conn, opinions).await?;
    lock_reviews(conn, opinions).await?;
    let rows = sqlx::query!(
        r#"
        select
            o.id, o.task_id, o.kind, o.site_id, o.media_id, o.actor_id, o.ruling, o.policy_id, o.reason, o.seen_status, o.seen_verdict,
            p.code as "policy_code?",
            t.id is not null as "is_open!",
            greatest(t.tier, o.tier) as "tier!",
            o.bulk_id,
            coalesce(t.needed = 2, false) or coalesce(p.two_people, false) as "needs_two!",
            coalesce(t.waiting_since, o.opened_at) as "waiting_since!",
            m.status as "status?",
            m.verdict as "verdict?",
            b.id as "before_id?",
            b.actor_id as "before_actor?",
            b.ruling as "before_ruling?"
        from review_opinions o
        left join review_tasks t on t.id = o.task_id
        left join review_policies p on p.id = o.policy_id
        left join media m on m.id = o.media_id
        left join lateral (
            select id, actor_id, ruling
            from review_opinions
            where task_id = o.task_id and outcome = 'waits'
            order by id
            limit 1
        ) b on true
        where o.id = any($1) and o.outcome is null
        order by o.id
        for no key update of o
        "#,
        opinions,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            let before = match (row.before_id, row.before_actor, row.before_ruling) {
                (Some(id), Some(actor), Some(ruling)) => Some(Before {
                    id: id.into(),
                    actor,
                    ruling: read(ruling.parse())?,
                }),
                _ => None,
            };
            Ok(Spoken {
                id: row.id.into(),
                review: row.task_id.into(),
                media: row.media_id.into(),
                actor: row.actor_id.into(),
                ruling: read(row.ruling.parse())?,
                policy_id: row.policy_id,
                policy_code: row.policy_code,
                reason: read(Reason::try_from(row.reason))?,
                seen: standing(&row.seen_status, Some(row.seen_verdict))?,
                // An item that is gone stands nowhere that a person has seen.
                standing: match row.status {
                    Some(status) => standing(&status, row.verdict)?,
                    None => Standing::ACCEPTED,
                },
                site: row.site_id.into(),
                kind: read(row.kind.parse())?,
                is_open: row.is_open,
                tier: read(Tier::of_number(row.tier).ok_or("a tier that is unknown"))?,
                bulk: row.bulk_id,
                needs_two: row.needs_two,
                waiting_since: row.waiting_since,
                before,
            })
        })
        .collect()
}

async fn lock_media(conn: &mut PgConnection, opinions: &[Uuid]) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        select id
        from media
        where id in (select media_id from review_opinions where id = any($1) and outcome is null)
        order by id
        for no key update
        ",
        opinions,
    )
    .fetch_all(conn)
    .await?;
    Ok(())
}

async fn lock_reviews(conn: &mut PgConnection, opinions: &[Uuid]) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        select id
        from review_tasks
        where id in (select task_id from review_opinions where id = any($1) and outcome is null)
        order by id
        for no key update
        ",
        opinions,
    )
    .fetch_all(conn)
    .await?;
    Ok(())
}

fn standing(status: &str, verdict: Option<i16>) -> Result<Standing, sqlx::Error> {
    Ok(Standing {
        status: read(status.parse::<Status>())?,
        verdicts: verdict.map_or(0, |number| u16::try_from(number).unwrap_or(0)),
    })
}

fn read<T, E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    value: Result<T, E>,
) -> Result<T, sqlx::Error> {
    value.map_err(|error| sqlx::Error::Decode(error.into()))
}
