//! What a person says in a review. It is held until the time to undo it is over.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{
    id::{
        ActorId, BulkDecisionId, MediaId, NoteId, OpinionId, ReviewId, ReviewPolicyId, SiteId,
        TeamId,
    },
    media::Ruling,
    reach::Reach,
    reason::Reason,
    review::{NoteText, Tier},
};
use queue::{NewJob, NewJobs};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Locked, lease, list};
use crate::{Error, jobs};

/// The policy that a decision names.
#[derive(Clone, Debug)]
pub struct UsedPolicy {
    /// The policy.
    pub id: ReviewPolicyId,
    /// What programs call it.
    pub code: String,
    /// What the application is told if the person writes nothing else.
    pub reason: String,
}

/// A decision to hold.
#[derive(Clone, Copy, Debug)]
pub struct NewOpinion<'a> {
    /// The review, locked. The person has it.
    pub review: &'a Locked,
    /// Who decides.
    pub by: ActorId,
    /// What.
    pub ruling: Ruling,
    /// By which policy.
    pub policy: Option<&'a UsedPolicy>,
    /// Why. The application reads it.
    pub reason: &'a Reason,
    /// For how long it can be undone.
    pub undo: Duration,
    /// The bulk decision that it belongs to. The person need not have the review then.
    pub bulk: Option<BulkDecisionId>,
}

impl NewOpinion<'_> {
    /// For whom the person speaks. Only leads make bulk decisions, and a lead's word is final, for
    /// whomever the review waited.
    const fn tier(&self) -> Tier {
        match self.bulk {
            Some(_) => Tier::Leads,
            None => self.review.tier,
        }
    }
}

/// A decision that is held.
#[derive(Debug)]
pub struct Held {
    /// The opinion.
    pub id: OpinionId,
    /// Until when it can be undone.
    pub until: DateTime<Utc>,
    /// The job that tells it. Tell the queue of it after the commit.
    pub jobs: NewJobs,
}

/// A policy of a team that was not deleted.
pub async fn policy(
    conn: &mut PgConnection,
    team: TeamId,
    policy: ReviewPolicyId,
) -> Result<Option<UsedPolicy>, Error> {
    let policy = sqlx::query_as!(
        UsedPolicy,
        "
        select id, code, reason
        from review_policies
        where id = $1 and team_id = $2 and disabled_at is null
        ",
        policy.as_uuid(),
        team.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(policy)
}

/// For how long decisions about items of a site can be undone.
pub async fn undo_seconds(conn: &mut PgConnection, site: SiteId) -> Result<Duration, Error> {
    let seconds = sqlx::query_scalar!(
        r#"select coalesce((select undo_seconds from desk_settings where site_id = $1), 10::smallint) as "seconds!""#,
        site.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(Duration::from_secs(u64::from(seconds.unsigned_abs())))
}

/// Holds what a person says, with the job that tells it.
pub async fn say(conn: &mut PgConnection, new: NewOpinion<'_>) -> Result<Held, Error> {
    let (id, until, job) = hold(conn, new).await?;
    let jobs = NewJobs::from(job);
    queue::enqueue(conn, &jobs).await?;
    Ok(Held { id, until, jobs })
}

/// Holds what a person says, and says until when. The job must be enqueued in the same transaction.
pub(crate) async fn hold(
    conn: &mut PgConnection,
    new: NewOpinion<'_>,
) -> Result<(OpinionId, DateTime<Utc>, NewJob), sqlx::Error> {
    let id = OpinionId::from(Uuid::now_v7());
    let review = new.review;
    let until = sqlx::query_scalar!(
        r#"
        with held as (
            update review_tasks
            set
                held_until = clock_timestamp() + make_interval(secs => $12::bigint),
                leased_by = null, leased_at = null, leased_until = null
            where id = $2
            returning held_until, severity, categories, rules, waiting_since, due_at
        ),
        exposed as (
            insert into review_exposures as e (actor_id, day, team_id, decided)
            values ($8, (now() at time zone 'UTC')::date, $4, 1)
            on conflict (actor_id, day) do update set decided = e.decided + 1
        )
        insert into review_opinions (
            id, task_id, media_id, team_id, site_id, kind, tier, actor_id, ruling, policy_id, reason, seen_status, seen_verdict,
            opened_at, said_at, severity, suggested_id, waiting_since, due_at, held_until, bulk_id
        )
        select
            $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $13, $14, coalesce($15, clock_timestamp()), clock_timestamp(),
            held.severity,
            (
                select p.id
                from review_policies p
                where
                    p.team_id = $4 and p.disabled_at is null
                    and (p.categories && held.categories or p.rules && held.rules)
                order by p.severity desc, p.key, p.id
                limit 1
            ),
            held.waiting_since, held.due_at, held.held_until, $16
        from held
        returning held_until
        "#,
        id.as_uuid(),
        review.id.as_uuid(),
        review.media.as_uuid(),
        review.team.as_uuid(),
        review.site.as_uuid(),
        review.kind.as_str(),
        new.tier().number(),
        new.by.as_uuid(),
        new.ruling.as_str(),
        new.policy.map(|policy| policy.id.as_uuid()),
        new.reason.as_str(),
        i64::try_from(new.undo.as_secs()).unwrap_or(i64::MAX),
        review.seen.status.as_str(),
        i16::try_from(review.seen.verdicts).unwrap_or(i16::MAX),
        review.leased_at,
        new.bulk.map(BulkDecisionId::as_uuid),
    )
    .fetch_one(&mut *conn)
    .await?;
    let job = jobs::end_review(id, review.team).delay(new.undo);
    Ok((id, until, job))
}

/// Undoes what a person said in a review that the caller has locked, while it is held: the person
/// has the review again. False: the person has said nothing there that could be undone.
pub async fn undo(
    conn: &mut PgConnection,
    review: ReviewId,
    actor: ActorId,
) -> Result<bool, Error> {
    let undone = sqlx::query!(
        "delete from review_opinions where task_id = $1 and actor_id = $2 and outcome is null",
        review.as_uuid(),
        actor.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    if undone.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query!(
        "
        update review_tasks
        set
            held_until = null, leased_by = $2, leased_at = clock_timestamp(), leased_until = clock_timestamp() + $3
        where id = $1
        ",
        review.as_uuid(),
        actor.as_uuid(),
        lease(),
    )
    .execute(&mut *conn)
    .await?;
    list(conn, actor, review).await?;
    Ok(true)
}

/// Whether somebody has said something in a review, ended or not, within reach.
pub async fn has_spoken(
    conn: &mut PgConnection,
    reach: Reach,
    review: ReviewId,
    actor: ActorId,
) -> Result<bool, Error> {
    let found = sqlx::query_scalar!(
        r#"
        select exists (
            select from review_opinions where task_id = $1 and actor_id = $2 and ($3::uuid is null or team_id = $3)
        ) as "found!"
        "#,
        review.as_uuid(),
        actor.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_one(conn)
    .await?;
    Ok(found)
}

/// Whether somebody has decided in a review, cannot undo it any more, and was not forestalled by a
/// verdict from elsewhere.
pub async fn has_decided(
    conn: &mut PgConnection,
    review: ReviewId,
    actor: ActorId,
) -> Result<bool, Error> {
    let decided = sqlx::query_scalar!(
        r#"
        select exists (
            select from review_opinions where task_id = $1 and actor_id = $2 and outcome <> 'superseded'
        ) as "decided!"
        "#,
        review.as_uuid(),
        actor.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(decided)
}

/// The most notes of an item that are shown.
const SHOWN: i64 = 100;

/// A note to write.
#[derive(Clone, Copy, Debug)]
pub struct NewNote<'a> {
    /// About which item.
    pub media: MediaId,
    /// Its team.
    pub team: TeamId,
    /// During which review; none: on the page of the item.
    pub review: Option<ReviewId>,
    /// Who writes it.
    pub by: ActorId,
    /// The text.
    pub body: &'a NoteText,
}

/// A note.
#[derive(Clone, Debug)]
pub struct Note {
    /// The note.
    pub id: NoteId,
    /// Who wrote it.
    pub by: ActorId,
    /// The name of the person or of the token.
    pub name: Option<String>,
    /// The text.
    pub body: String,
    /// When.
    pub written_at: DateTime<Utc>,
}

/// Writes a note.
pub async fn add(conn: &mut PgConnection, note: NewNote<'_>) -> Result<NoteId, Error> {
    let id = NoteId::from(Uuid::now_v7());
    sqlx::query!(
        "
        insert into review_notes (id, media_id, team_id, task_id, actor_id, body)
        values ($1, $2, $3, $4, $5, $6)
        ",
        id.as_uuid(),
        note.media.as_uuid(),
        note.team.as_uuid(),
        note.review.map(ReviewId::as_uuid),
        note.by.as_uuid(),
        note.body.as_str(),
    )
    .execute(conn)
    .await?;
    Ok(id)
}

/// The last notes about an item, the oldest of them first; only those of one review, if it is named.
pub async fn of_media(
    conn: &mut PgConnection,
    media: MediaId,
    only: Option<ReviewId>,
) -> Result<Vec<Note>, Error> {
    let mut notes = sqlx::query_as!(
        Note,
        r#"
        select n.id, n.actor_id as by, coalesce(u.name, t.name) as name, n.body, n.written_at
        from review_notes n
        left join memberships m on m.id = n.actor_id
        left join users u on u.id = m.user_id
        left join management_tokens t on t.id = n.actor_id
        where n.media_id = $1 and ($3::uuid is null or n.task_id = $3)
        order by n.id desc
        limit $2
        "#,
        media.as_uuid(),
        SHOWN,
        only.map(ReviewId::as_uuid),
    )
    .fetch_all(conn)
    .await?;
    notes.reverse();
    Ok(notes)
}
