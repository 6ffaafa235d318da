//! Closures: a site, or a team with all its sites, is disabled at once, and each site gets an export.
//! During a grace, the closure can be cancelled ([`cancel`]). Then each site is erased, and what is its
//! own is removed ([`slice`]), by jobs of a queue of their own.
//!
//! `closure_id` of a site says that it is disabled: it accepts no submissions, and cannot be changed.
//! From the end of the grace on it has `closed_at`, and cannot be opened again. Both stay.

mod create;
pub mod slice;

use chrono::{DateTime, Utc};
use domain::{
    chain::State,
    closure::{ClosureState, WaitsFor},
    event::{iso8601, iso8601_or_null},
    id::{ActorId, ClosureId, ErasureId, ExportId, SiteId, TeamId},
    reach::Reach,
};
use queue::{NewJobs, QueueName};
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool, types::Json};
use uuid::Uuid;

pub use self::create::{NewClosure, NotCreated, create};
use crate::{
    Error,
    chain::{self, Chain},
    jobs::{self, ClosureJob},
    page::Page,
};

/// A closure, and how far it has got. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct Closure {
    /// The closure.
    pub id: ClosureId,
    /// Its team.
    #[serde(rename = "team_id")]
    pub team: TeamId,
    /// The site that it closes; none: the team with all its sites.
    #[serde(rename = "site_id")]
    pub site: Option<SiteId>,
    /// The name of the site or the team. A site that has been erased is called `closed` and its id.
    pub name: String,
    /// How far it is.
    pub state: ClosureState,
    /// When the grace ends.
    #[serde(serialize_with = "iso8601")]
    pub erase_at: DateTime<Utc>,
    /// What it waits for, beside the end of the grace and its own erasures.
    pub waits_for: Option<WaitsFor>,
    /// The sites that it closes, at most [`SITES`]; none if it was cancelled.
    pub sites: Vec<ClosedSite>,
    /// Why it failed.
    pub error: Option<String>,
    /// Who asked for it; none for the command line.
    pub created_by: Option<ActorId>,
    /// When it was asked for.
    #[serde(serialize_with = "iso8601")]
    pub created_at: DateTime<Utc>,
    /// When it ended; none while it runs.
    #[serde(serialize_with = "iso8601_or_null")]
    pub ended_at: Option<DateTime<Utc>>,
}

/// How many sites of a closure are shown.
pub const SITES: i64 = 1_000;

/// A site that a closure closes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClosedSite {
    /// The site.
    #[serde(rename = "site_id")]
    pub site: SiteId,
    /// Its name. A site that has been erased is called `closed` and its id.
    pub name: String,
    /// Its export, which can be read until the grace ends.
    #[serde(rename = "export_id")]
    pub export: ExportId,
    /// Its erasure; none before it began.
    #[serde(rename = "erasure_id")]
    pub erasure: Option<ErasureId>,
}

impl Chain for Closure {
    const TABLE: &'static str = "closures";
    const QUEUE: QueueName = jobs::CLOSURES;
    /// How many steps were done.
    type Place = i64;
    type Job = ClosureJob;

    fn row(job: &ClosureJob) -> Uuid {
        job.closure.as_uuid()
    }
}

/// Forgets closures that ended long ago, and says how many. One that failed is not forgotten: it is
/// to be resumed.
pub async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    let forgotten = sqlx::query!(
        "
        delete from closures
        where state in ('finished', 'cancelled') and ended_at <= now() - $1 * interval '1 second'
        ",
        chain::KEPT.as_secs_f64(),
    )
    .execute(pool)
    .await?;
    Ok(forgotten.rows_affected())
}

/// A site or a team that is closed, or is being closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closing {
    /// The closure.
    pub closure: ClosureId,
    /// Whether it is closed for good: the closure cannot be cancelled any more.
    pub is_closed: bool,
}

/// Whether the row of this table is closed, or being closed. It stays so until the transaction ends.
macro_rules! closing {
    ($conn:expr, $table:literal, $id:expr) => {{
        let row = sqlx::query!(
            r#"
        select closure_id, closed_at is not null as "is_closed!"
        from "# + $table
                + "
        where id = $1
        for no key update
        ",
            $id.as_uuid(),
        )
        .fetch_optional($conn)
        .await?;
        Ok(row.and_then(|row| {
            let closure = row.closure_id?.into();
            Some(Closing {
                closure,
                is_closed: row.is_closed,
            })
        }))
    }};
}

/// Whether a site is closed, or being closed; none while it is open. It stays so until the transaction ends.
pub async fn of_site(conn: &mut PgConnection, site: SiteId) -> Result<Option<Closing>, Error> {
    closing!(conn, "sites", site)
}

/// The same of a team.
pub async fn of_team(conn: &mut PgConnection, team: TeamId) -> Result<Option<Closing>, Error> {
    closing!(conn, "teams", team)
}

/// Cancels a closure: exactly what it has disabled is open again, and its exports end. False: its grace
/// is over, or it had ended. Run it in a transaction.
pub async fn cancel(conn: &mut PgConnection, closure: ClosureId) -> Result<bool, Error> {
    let cancelled = sqlx::query!(
        "
        update closures
        set state = 'cancelled', ended_at = clock_timestamp(), waits_for = null, error = null
        where id = $1 and state in ('running', 'failed') and phase = 'grace'
        ",
        closure.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    if cancelled.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query!(
        "update sites set closure_id = null where id in (select site_id from closure_sites where closure_id = $1)",
        closure.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "update teams set closure_id = null where closure_id = $1",
        closure.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "delete from exports where id in (select export_id from closure_sites where closure_id = $1)",
        closure.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "delete from closure_sites where closure_id = $1",
        closure.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(true)
}

/// Continues a closure that failed, where it was. None: it did not fail.
pub async fn resume(conn: &mut PgConnection, closure: ClosureId) -> Result<Option<NewJobs>, Error> {
    let team = sqlx::query_scalar!(
        "
        update closures set state = 'running', ended_at = null, error = null
        where id = $1 and state = 'failed'
        returning team_id
        ",
        closure.as_uuid(),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(team) = team else { return Ok(None) };
    Ok(Some(
        chain::begin(conn, jobs::close(closure, team.into())).await?,
    ))
}

/// The closures that meet a condition. The limit is the parameter with [`SITES`].
macro_rules! select {
    ($conn:expr, $limit:literal, $condition:literal, $($value:expr),+) => {
        sqlx::query!(
            r#"
        select
            c.id, c.team_id, c.site_id, coalesce(of.name, t.name) as "name!", c.state, c.phase = 'grace' as "is_grace!", c.erase_at, c.waits_for, c.error,
            c.created_by, c.created_at, c.ended_at,
            array_to_json(
                array(
                    select json_build_object(
                        'site_id', s.site_id, 'name', closed.name, 'export_id', s.export_id, 'erasure_id', s.erasure_id
                    )
                    from closure_sites s
                    join sites closed on closed.id = s.site_id
                    where s.closure_id = c.id
                    order by s.site_id
                    limit "#
                + $limit
                + r#"
                )
            ) as "sites!: Json<Vec<ClosedSite>>"
        from closures c
        join teams t on t.id = c.team_id
        left join sites of on of.id = c.site_id
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
            let state = match row.state.parse::<State>()? {
                State::Running if row.is_grace => ClosureState::Grace,
                State::Running => ClosureState::Erasing,
                State::Finished => ClosureState::Closed,
                State::Cancelled => ClosureState::Cancelled,
                State::Failed => ClosureState::Failed,
            };
            Ok(Closure {
                id: row.id.into(),
                team: row.team_id.into(),
                site: row.site_id.map(SiteId::from),
                name: row.name,
                state,
                erase_at: row.erase_at,
                waits_for: row.waits_for.map(|name| name.parse()).transpose()?,
                sites: row.sites.0,
                error: row.error,
                created_by: row.created_by.map(ActorId::from),
                created_at: row.created_at,
                ended_at: row.ended_at,
            })
        })
        .collect::<Result<Vec<_>, Error>>()
    };
}

/// A closure; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    closure: ClosureId,
) -> Result<Option<Closure>, Error> {
    let found = select!(
        conn,
        "$3",
        "c.id = $1 and ($2::uuid is null or c.team_id = $2)",
        closure.as_uuid(),
        reach.team().map(TeamId::as_uuid),
        SITES
    );
    Ok(found?.pop())
}

/// Closures within reach, the latest first.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    page: Page,
) -> Result<Vec<Closure>, Error> {
    select!(
        conn,
        "$4",
        "($1::uuid is null or c.team_id = $1) and ($2::uuid is null or c.id < $2)
        order by c.id desc
        limit $3",
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
        SITES
    )
}
