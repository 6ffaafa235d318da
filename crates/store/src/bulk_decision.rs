//! Bulk decisions: a lead decides about many reviews of the desk at once. The reviews are chosen at
//! the creation. Slice by slice ([`slice`]), jobs of a queue of their own hold a decision for each
//! of them, exactly as if a person had made it there ([`review::say`](crate::review::say)): each has
//! its own time to undo it, and its own job that tells it. The decisions of a slice are stored in the
//! transaction that finishes its job, so none is made twice and none is lost.

pub mod slice;

use chrono::{DateTime, Utc};
use domain::{
    author::Author,
    chain::State,
    event::{iso8601, iso8601_or_null},
    id::{ActorId, BulkDecisionId, ReviewId, ReviewPolicyId, SiteId, TeamId},
    media::Ruling,
    name::Name,
    reach::Reach,
    reason::Reason,
    review::{MOST_IN_BULK, Severity},
    score::Category,
};
use queue::{NewJobs, QueueName};
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use crate::{
    Error,
    chain::{self, Chain},
    jobs::{self, BulkJob},
    page::Page,
};

/// Which reviews are meant: those that have all that is named here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// Of items of this site.
    #[serde(rename = "site_id")]
    pub site: Option<SiteId>,
    /// Of this severity.
    pub severity: Option<Severity>,
    /// This policy is suggested.
    #[serde(rename = "policy_id")]
    pub policy: Option<ReviewPolicyId>,
    /// The machine flagged the item for this category.
    pub category: Option<Category>,
    /// A rule with this name matched.
    pub rule: Option<Name>,
    /// The item's author.
    pub author: Option<Author>,
}

/// A bulk decision, and how far it has got. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct Bulk {
    /// The bulk decision.
    pub id: BulkDecisionId,
    /// Its team.
    #[serde(skip)]
    pub team: TeamId,
    /// What was decided.
    pub decision: Ruling,
    /// By which policy.
    #[serde(rename = "policy_id")]
    pub policy: Option<ReviewPolicyId>,
    /// Why. The application reads it.
    pub reason: String,
    /// Which reviews were meant; none if they were named.
    pub filter: Option<Filter>,
    /// How many reviews it is about.
    pub total: i32,
    /// In how many of them a decision was made.
    pub done: i32,
    /// How many were skipped: they had ended, somebody had them, or the lead could not have them.
    pub skipped: i32,
    /// How many decisions were undone before they were told.
    pub undone: i32,
    /// How far it is.
    pub state: State,
    /// Why it failed.
    pub error: Option<String>,
    /// Who decided.
    pub created_by: ActorId,
    /// When it was started.
    #[serde(serialize_with = "iso8601")]
    pub created_at: DateTime<Utc>,
    /// When it ended; none while it runs.
    #[serde(serialize_with = "iso8601_or_null")]
    pub ended_at: Option<DateTime<Utc>>,
}

impl Chain for Bulk {
    const TABLE: &'static str = "bulk_decisions";
    const QUEUE: QueueName = jobs::BULK_DECISIONS;
    type Place = i32;
    type Job = BulkJob;

    fn row(job: &BulkJob) -> Uuid {
        job.bulk.as_uuid()
    }

    async fn ended(conn: &mut PgConnection, row: Uuid) -> Result<(), sqlx::Error> {
        forget_reviews(conn, row).await
    }
}

/// Stops a bulk decision, and undoes what is still held of it. What was told stays. Says how many
/// decisions were undone now.
pub async fn cancel(conn: &mut PgConnection, bulk: BulkDecisionId) -> Result<Cancelled, Error> {
    // This waits for a slice that is being stored. So no decision is held after the undoing.
    let stopped = chain::cancel::<Bulk>(conn, bulk.as_uuid()).await?;
    Ok(Cancelled {
        stopped,
        undone: undo(conn, bulk).await?,
    })
}

/// What was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled {
    /// Whether it was running.
    pub stopped: bool,
    /// How many decisions were undone.
    pub undone: u64,
}

/// Forgets which reviews it is about: nothing needs them after the last slice.
async fn forget_reviews(conn: &mut PgConnection, bulk: Uuid) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update bulk_decisions set review_ids = '{}' where id = $1",
        bulk
    )
    .execute(conn)
    .await?;
    Ok(())
}

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

/// No more than this many reviews of a team are looked at, the most urgent ones.
const LOOKED_AT: i64 = 100_000;

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// The person or the token. Reviews that it has passed on or spoken about are left to others.
    pub actor: ActorId,
    /// Its team.
    pub team: TeamId,
    /// The sites whose items it may decide; none: all.
    pub sites: Option<&'a [SiteId]>,
}

impl Asker<'_> {
    fn site_ids(&self) -> Option<Vec<Uuid>> {
        self.sites
            .map(|sites| sites.iter().map(|site| site.as_uuid()).collect())
    }
}

/// The reviews that are meant, the most urgent first. If there are more than [`MOST_IN_BULK`], these
/// and one more.
pub async fn matching(
    conn: &mut PgConnection,
    asker: Asker<'_>,
    filter: &Filter,
) -> Result<Vec<ReviewId>, Error> {
    let sites = asker.site_ids();
    let ids = sqlx::query_scalar!(
        r#"
        select t.id as "id!"
        from (
            select *
            from review_tasks
            where
                team_id = $1 and kind = 'review' and only_for is null and held_until is null
                and (leased_until is null or leased_until <= clock_timestamp())
                and $2 <> all(not_for)
                and ($3::uuid [] is null or site_id = any($3))
                and ($4::uuid is null or site_id = $4)
                and ($5::smallint is null or severity = $5)
            order by severity desc, due_at, id
            limit $10
        ) t
        where
            ($6::text is null or $6 = any(t.categories))
            and ($7::text is null or $7 = any(t.rules))
            and (
                $8::uuid is null
                or exists (
                    select
                    from review_policies p
                    where
                        p.id = $8 and p.team_id = t.team_id and p.disabled_at is null
                        and (p.categories && t.categories or p.rules && t.rules)
                )
            )
            and ($9::text is null or exists (select from media m where m.id = t.media_id and m.author = $9))
        order by t.severity desc, t.due_at, t.id
        limit $11
        "#,
        asker.team.as_uuid(),
        asker.actor.as_uuid(),
        sites.as_deref(),
        filter.site.map(SiteId::as_uuid),
        filter.severity.map(Severity::number),
        filter.category.map(Category::as_str),
        filter.rule.as_ref().map(Name::as_str),
        filter.policy.map(ReviewPolicyId::as_uuid),
        filter.author.as_ref().map(Author::as_str),
        LOOKED_AT,
        i64::try_from(MOST_IN_BULK).unwrap_or(i64::MAX).saturating_add(1),
    )
    .fetch_all(conn)
    .await?;
    Ok(ids.into_iter().map(ReviewId::from).collect())
}

/// The bulk decisions that meet a condition.
macro_rules! select {
    ($conn:expr, $condition:literal, $($value:expr),+) => {
        sqlx::query!(
            r#"
        select
            id, team_id, ruling, policy_id, reason, filter as "filter: Json<Filter>", total, done, skipped, undone, state, error,
            created_by, created_at, ended_at
        from bulk_decisions
        where "#
                + $condition
                + "
        ",
            $($value),+
        )
        .fetch_all($conn)
        .await?
        .into_iter()
        .map(|row| {
            Ok(Bulk {
                id: row.id.into(),
                team: row.team_id.into(),
                decision: row.ruling.parse()?,
                policy: row.policy_id.map(ReviewPolicyId::from),
                reason: row.reason,
                filter: row.filter.map(|filter| filter.0),
                total: row.total,
                done: row.done,
                skipped: row.skipped,
                undone: row.undone,
                state: row.state.parse()?,
                error: row.error,
                created_by: row.created_by.into(),
                created_at: row.created_at,
                ended_at: row.ended_at,
            })
        })
        .collect::<Result<Vec<_>, Error>>()
    };
}

/// A bulk decision; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    bulk: BulkDecisionId,
) -> Result<Option<Bulk>, Error> {
    let found = select!(
        conn,
        "id = $1 and ($2::uuid is null or team_id = $2)",
        bulk.as_uuid(),
        reach.team().map(TeamId::as_uuid)
    );
    Ok(found?.pop())
}

/// A team's bulk decisions, the latest first.
pub async fn list(conn: &mut PgConnection, team: TeamId, page: Page) -> Result<Vec<Bulk>, Error> {
    select!(
        conn,
        "team_id = $1 and ($2::uuid is null or id < $2)
        order by id desc
        limit $3",
        team.as_uuid(),
        page.after,
        page.limit
    )
}

/// Deletes the decisions that are still held, and says how many: their reviews wait again. Jobs that
/// find no decision tell nothing.
async fn undo(conn: &mut PgConnection, bulk: BulkDecisionId) -> Result<u64, Error> {
    lock_reviews(conn, bulk).await?;
    let undone = forget_held(conn, bulk).await?;
    if undone > 0 {
        sqlx::query!(
            "update bulk_decisions set undone = undone + $2 where id = $1",
            bulk.as_uuid(),
            i32::try_from(undone).unwrap_or(i32::MAX),
        )
        .execute(conn)
        .await?;
    }
    Ok(undone)
}

/// Locks reviews before opinions, as telling does.
async fn lock_reviews(conn: &mut PgConnection, bulk: BulkDecisionId) -> Result<(), Error> {
    sqlx::query!(
        "
        select id
        from review_tasks
        where id in (select task_id from review_opinions where bulk_id = $1 and outcome is null)
        order by id
        for no key update
        ",
        bulk.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    Ok(())
}

/// Decisions in reviews that have ended stay: their jobs find that somebody else decided.
async fn forget_held(conn: &mut PgConnection, bulk: BulkDecisionId) -> Result<u64, Error> {
    let undone = sqlx::query!(
        "
        with undone as (
            delete from review_opinions o
            using review_tasks t
            where o.bulk_id = $1 and o.outcome is null and t.id = o.task_id
            returning o.task_id
        )
        update review_tasks t
        set held_until = null
        from undone
        where t.id = undone.task_id
        ",
        bulk.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(undone.rows_affected())
}
