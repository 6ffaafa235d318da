//! Scans: a list is compared with stored pictures, slice by slice ([`slice`]), by jobs of a queue
//! of its own. The findings of a slice are stored in the transaction that finishes its job, so
//! nothing is lost or counted twice. No verdict changes.

pub mod slice;

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    chain::State,
    id::{ActorId, HashEntryId, HashListId, HashScanId, MediaId, TeamId},
    image_hash::HashAlgorithm,
    media::Status,
    reach::Reach,
};
use queue::{NewJobs, QueueName};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    Error,
    chain::{self, Chain},
    id_time::made_at,
    jobs::{self, HashScanJob},
    page::Page,
};

/// The most matches of a scan that are listed.
pub const LISTED: i64 = 100_000;

/// A scan, and how far it has got. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct Scan {
    /// The scan.
    pub id: HashScanId,
    /// The list.
    #[serde(rename = "hash_list_id")]
    pub list: HashListId,
    /// The team whose items it looks at; none: those of all teams.
    #[serde(rename = "team_id")]
    pub team: Option<TeamId>,
    /// Only entries with a newer revision of the list; none: all.
    pub since_revision: Option<i64>,
    /// It looks at items accepted before this time, the newest first.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub until: DateTime<Utc>,
    /// When the oldest of them was accepted; none: there is none.
    #[serde(serialize_with = "domain::event::iso8601_or_null")]
    pub oldest: Option<DateTime<Utc>>,
    /// It has looked at all items accepted after this time; none: at none yet.
    #[serde(serialize_with = "domain::event::iso8601_or_null")]
    pub reached: Option<DateTime<Utc>>,
    /// Its state.
    pub state: State,
    /// How many hashed images it has looked at.
    pub looked_at: i64,
    /// How many of them are on the list.
    pub matched: i64,
    /// Why it failed.
    pub error: Option<String>,
    /// Who started it.
    pub created_by: Option<ActorId>,
    /// When it was started.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
    /// When it ended; none while it runs.
    #[serde(serialize_with = "domain::event::iso8601_or_null")]
    pub ended_at: Option<DateTime<Utc>>,
}

impl Chain for Scan {
    const TABLE: &'static str = "hash_scans";
    const QUEUE: QueueName = jobs::HASH_SCANS;
    type Place = Option<Uuid>;
    type Job = HashScanJob;

    fn row(job: &HashScanJob) -> Uuid {
        job.scan.as_uuid()
    }
}

/// Stops a scan. False: it has ended already. Its findings stay. Those of a running slice are
/// dropped.
pub async fn cancel(conn: &mut PgConnection, scan: HashScanId) -> Result<bool, Error> {
    Ok(chain::cancel::<Scan>(conn, scan.as_uuid()).await?)
}

/// Stops all scans for a list.
pub(super) async fn cancel_all(conn: &mut PgConnection, list: HashListId) -> Result<(), Error> {
    sqlx::query!(
        "
        update hash_scans
        set state = 'cancelled', ended_at = clock_timestamp()
        where list_id = $1 and state = 'running'
        ",
        list.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// A scan to run.
#[derive(Clone, Copy, Debug)]
pub struct NewScan {
    /// The list.
    pub list: HashListId,
    /// Whose items; none: those of all teams.
    pub team: Option<TeamId>,
    /// Only entries with a newer revision; none: all.
    pub since_revision: Option<i64>,
    /// Who did it.
    pub by: Actor,
}

/// Creates a scan with its first job. Tell the queue of the job after the commit. None: such a scan
/// of the list is running already. Run it in a transaction, and roll the transaction back if the
/// answer is none.
pub async fn create(
    conn: &mut PgConnection,
    new: NewScan,
) -> Result<Option<(HashScanId, NewJobs)>, Error> {
    let id = HashScanId::from(Uuid::now_v7());
    let inserted = sqlx::query!(
        "
        insert into hash_scans (id, list_id, team_id, since_revision, until, oldest, created_by)
        select
            $1, $2, $3, $4, now(),
            case
                when $3::uuid is null then (select m.created_at from media m order by m.id limit 1)
                else (
                    select min(o.created_at)
                    from sites s
                    cross join lateral (
                        select m.created_at from media m where m.site_id = s.id order by m.id limit 1
                    ) o
                    where s.team_id = $3
                )
            end,
            $5
        ",
        id.as_uuid(),
        new.list.as_uuid(),
        new.team.map(TeamId::as_uuid),
        new.since_revision,
        new.by.as_uuid(),
    )
    .execute(&mut *conn)
    .await;
    if !chain::is_inserted(inserted, "hash_scans_running_key")? {
        return Ok(None);
    }
    let jobs = chain::begin(conn, jobs::scan(id, new.list, new.team)).await?;
    Ok(Some((id, jobs)))
}

/// The scans that meet a condition.
macro_rules! select {
    ($conn:expr, $condition:literal, $($value:expr),+) => {
        sqlx::query!(
            "
        select
            id, list_id, team_id, since_revision, until, oldest, state, walked_to, looked_at, matched, created_by,
            created_at, ended_at, error
        from hash_scans
        where "
                + $condition
                + "
        ",
            $($value),+
        )
        .fetch_all($conn)
        .await?
        .into_iter()
        .map(|row| {
            Ok(Scan {
                id: row.id.into(),
                list: row.list_id.into(),
                team: row.team_id.map(TeamId::from),
                since_revision: row.since_revision,
                until: row.until,
                oldest: row.oldest,
                reached: row.walked_to.and_then(made_at),
                state: row.state.parse()?,
                looked_at: row.looked_at,
                matched: row.matched,
                created_by: row.created_by.map(ActorId::from),
                created_at: row.created_at,
                ended_at: row.ended_at,
                error: row.error,
            })
        })
        .collect::<Result<Vec<_>, Error>>()
    };
}

/// A scan; none if there is none over items within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    scan: HashScanId,
) -> Result<Option<Scan>, Error> {
    let found = select!(
        conn,
        "id = $1 and ($2::uuid is null or team_id = $2)",
        scan.as_uuid(),
        reach.team().map(TeamId::as_uuid)
    );
    Ok(found?.pop())
}

/// A list's scans over items within reach, the latest first.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    list: HashListId,
    page: Page,
) -> Result<Vec<Scan>, Error> {
    select!(
        conn,
        "list_id = $1 and ($2::uuid is null or team_id = $2) and ($3::uuid is null or id < $3)
        order by id desc
        limit $4",
        list.as_uuid(),
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit
    )
}

/// An item whose image is on the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The item.
    pub media: MediaId,
    /// Its state now.
    pub status: Status,
    /// The nearest entry.
    pub entry: HashEntryId,
    /// The kind of hash that the entry is.
    pub algorithm: HashAlgorithm,
    /// In how many bits image and entry differ.
    pub distance: u32,
}

/// What a scan found, the newest items first.
pub async fn matches(
    conn: &mut PgConnection,
    scan: HashScanId,
    page: Page,
) -> Result<Vec<Match>, Error> {
    let rows = sqlx::query!(
        "
        select f.media_id, m.status, f.entry_id, f.algorithm, f.distance
        from hash_scan_matches f
        join media m on m.id = f.media_id
        where f.scan_id = $1 and ($2::uuid is null or f.media_id < $2)
        order by f.media_id desc
        limit $3
        ",
        scan.as_uuid(),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Match {
                media: row.media_id.into(),
                status: row.status.parse()?,
                entry: row.entry_id.into(),
                algorithm: row.algorithm.parse()?,
                distance: u32::try_from(row.distance).unwrap_or(0),
            })
        })
        .collect()
}
