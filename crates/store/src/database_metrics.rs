//! Metrics of the whole database, for one process: what Postgres reports about
//! itself, and what waits for people, for receivers or to be sealed.
//!
//! Every statement looks at a bounded number of rows and has a time limit, so it costs little
//! however much is stored.

use sqlx::{PgConnection, PgPool};

use crate::{Error, audit::sealing};

/// A connection for these figures alone, so that they can be read while all others are busy. A
/// statement ends after five seconds, even when nobody waits for it any more. Unlike elsewhere, tables
/// may be read in their own order: a limited number of rows is counted ten times faster than by an
/// index.
pub async fn connect(pool: &PgPool) -> Result<PgConnection, Error> {
    let mut conn = database::connect(pool).await?;
    sqlx::raw_sql(
        "set statement_timeout = '5s'; set lock_timeout = '1s'; set enable_seqscan = on;
         set default_transaction_read_only = on",
    )
    .execute(&mut conn)
    .await?;
    Ok(conn)
}

/// Chains that are looked at.
const CHAINS: i64 = 1_000;

/// How old the oldest entry of the audit log is that is not sealed yet, in seconds; 0 if all are
/// sealed. The index of such entries has the oldest one of each chain first, so one entry of each
/// chain is read, of the first thousand chains that have one. `None`: the database does not have
/// this index yet.
pub async fn oldest_unsealed(conn: &mut PgConnection) -> Result<Option<f64>, Error> {
    if !sealing::is_ready(&mut *conn).await? {
        return Ok(None);
    }
    let seconds = sqlx::query_scalar!(
        r#"
        with recursive firsts as (
            (
                select coalesce(team_id, '00000000-0000-0000-0000-000000000000') as chain, occurred_at
                from audit_log
                where chain_number is null
                order by coalesce(team_id, '00000000-0000-0000-0000-000000000000'), occurred_at, id
                limit 1
            )
            union all
            select n.chain, n.occurred_at
            from firsts f
            cross join lateral (
                select coalesce(a.team_id, '00000000-0000-0000-0000-000000000000') as chain, a.occurred_at
                from audit_log a
                where a.chain_number is null and coalesce(a.team_id, '00000000-0000-0000-0000-000000000000') > f.chain
                order by coalesce(a.team_id, '00000000-0000-0000-0000-000000000000'), a.occurred_at, a.id
                limit 1
            ) n
        )
        select greatest(extract(epoch from clock_timestamp() - min(f.occurred_at)), 0)::float8 as "seconds!"
        from (select occurred_at from firsts limit $1) f
        "#,
        CHAINS,
    )
    .fetch_one(conn)
    .await?;
    Ok(Some(seconds))
}

/// Tables that are reported. Gatehouse has about sixty; others may be in the same schema.
const TABLES: i64 = 100;

/// The dead rows of a table, as far as Postgres knows.
#[derive(Debug)]
pub struct Dead {
    /// Its name; with `queue.` if it is one of the queue's.
    pub table: String,
    /// Rows that vacuum has not yet removed.
    pub tuples: i64,
}

/// How long the oldest open transaction of a client has been open, in seconds, in any database of
/// the server; 0 if none is. Prepared transactions count. `None`: the role does not see the
/// transactions of all roles.
pub async fn oldest_transaction(
    conn: &mut PgConnection,
    visibility: &Visibility,
) -> Result<Option<f64>, Error> {
    if !visibility.sees_transactions() {
        return Ok(None);
    }
    let seconds = sqlx::query_scalar!(
        r#"
        select coalesce(extract(epoch from clock_timestamp() - min(since)), 0)::float8 as "seconds!"
        from (
            select xact_start as since
            from pg_stat_activity
            where backend_type = 'client backend' and pid <> pg_backend_pid()
            union all
            select prepared from pg_prepared_xacts
        ) as open
        "#
    );
    Ok(Some(seconds.fetch_one(conn).await?))
}

/// The dead rows of every table of the service and of the queue, at most of a hundred tables. None if the server does not count rows.
pub async fn dead_tuples(
    conn: &mut PgConnection,
    visibility: &Visibility,
) -> Result<Vec<Dead>, Error> {
    if !visibility.tracks_counts {
        return Ok(Vec::new());
    }
    Ok(sqlx::query_as!(
        Dead,
        r#"
        select
            case schemaname when 'queue' then 'queue.' else '' end || relname as "table!",
            n_dead_tup as "tuples!"
        from pg_stat_user_tables
        where schemaname in ('queue', current_schema())
        order by n_dead_tup desc, relid
        limit $1
        "#,
        TABLES,
    )
    .fetch_all(conn)
    .await?)
}

/// The size of the database's files.
pub async fn database_bytes(conn: &mut PgConnection) -> Result<i64, Error> {
    Ok(
        sqlx::query_scalar!(r#"select pg_database_size(current_database()) as "bytes!""#)
            .fetch_one(conn)
            .await?,
    )
}

/// What archiving the write-ahead log has done since the statistics of the server were reset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Archiving {
    /// Tries that failed.
    pub failures: f64,
    /// Whether the last try failed.
    pub is_failing: bool,
}

/// The write-ahead log that the server keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WalKept {
    /// How large its files may grow while nothing else needs them, in bytes: `max_wal_size` and `wal_keep_size`.
    pub target: f64,
    /// How much the replication slot that is furthest behind needs, in bytes; 0 without any.
    pub by_slots: f64,
}

/// The write-ahead log that the server has written since its statistics were reset, in bytes. It may fall: after a failover, the
/// other server has counted for itself.
pub async fn wal_bytes(conn: &mut PgConnection) -> Result<f64, Error> {
    Ok(
        sqlx::query_scalar!(r#"select wal_bytes::float8 as "bytes!" from pg_stat_wal"#)
            .fetch_one(conn)
            .await?,
    )
}

/// Whether archiving works. `None`: the server does not archive.
pub async fn archiving(
    conn: &mut PgConnection,
    visibility: &Visibility,
) -> Result<Option<Archiving>, Error> {
    if !visibility.archives {
        return Ok(None);
    }
    let archiving = sqlx::query_as!(
        Archiving,
        r#"
        select
            failed_count::float8 as "failures!",
            coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as "is_failing!"
        from pg_stat_archiver
        "#
    );
    Ok(Some(archiving.fetch_one(conn).await?))
}

/// The size of the files in `pg_wal`, in bytes. `None`: the role may not list them.
pub async fn wal_files(
    conn: &mut PgConnection,
    visibility: &Visibility,
) -> Result<Option<f64>, Error> {
    if !visibility.lists_wal {
        return Ok(None);
    }
    let bytes = sqlx::query_scalar!(
        r#"select coalesce(sum(size), 0)::float8 as "bytes!" from pg_ls_waldir()"#
    );
    Ok(Some(bytes.fetch_one(conn).await?))
}

/// What keeps the write-ahead log.
pub async fn wal_kept(conn: &mut PgConnection) -> Result<WalKept, Error> {
    Ok(sqlx::query_as!(
        WalKept,
        r#"
        select
            (pg_size_bytes(current_setting('max_wal_size')) + pg_size_bytes(current_setting('wal_keep_size')))::float8 as "target!",
            coalesce((
                select max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)) from pg_replication_slots
            ), 0)::float8 as "by_slots!"
        "#
    )
    .fetch_one(conn)
    .await?)
}

/// What a connection can see of its server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting or a right of its own"
)]
pub struct Visibility {
    /// Its role, as SQL names it.
    pub role: String,
    /// Whether it sees the transactions of all roles.
    pub has_all_stats: bool,
    /// Whether sessions report their transactions (`track_activities`).
    pub tracks_activities: bool,
    /// Whether the server counts rows (`track_counts`).
    pub tracks_counts: bool,
    /// Whether it may list the files of the write-ahead log.
    pub lists_wal: bool,
    /// Whether the server archives its write-ahead log (`archive_mode`).
    pub archives: bool,
    /// How much the server writes into its own log about an error (`log_error_verbosity`).
    pub error_verbosity: String,
}

/// Something that a connection cannot see, and about which it has no figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blind {
    /// How long transactions have been open.
    Transactions(String),
    /// How many dead rows there are.
    DeadTuples(String),
    /// How large the files of the write-ahead log are.
    WalFiles(String),
}

impl Visibility {
    /// Whether it can see the oldest transaction.
    const fn sees_transactions(&self) -> bool {
        self.has_all_stats && self.tracks_activities
    }

    /// Everything that it cannot see, each with what an administrator can do.
    pub fn blind(&self) -> Vec<Blind> {
        let role = &self.role;
        let mut blind = Vec::new();
        if !self.tracks_activities {
            blind.push(Blind::Transactions(
                "the server does not track transactions: set `track_activities = on`".to_owned(),
            ));
        } else if !self.has_all_stats {
            blind.push(Blind::Transactions(format!(
                "the role {role} does not see the transactions of other roles: as an administrator, run `grant pg_read_all_stats to {role}`"
            )));
        }
        if !self.tracks_counts {
            blind.push(Blind::DeadTuples(
                "the server does not count rows: set `track_counts = on`".to_owned(),
            ));
        }
        if !self.lists_wal {
            blind.push(Blind::WalFiles(format!(
                "the role {role} may not list the files in pg_wal: as an administrator, run `grant pg_monitor to {role}`, or `grant execute \
                 on function pg_ls_waldir() to {role}` in this database"
            )));
        }
        blind
    }
}

/// Finds out what a connection can see.
pub async fn visibility(conn: &mut PgConnection) -> Result<Visibility, Error> {
    Ok(sqlx::query_as!(
        Visibility,
        r#"
        select
            quote_ident(current_user) as "role!",
            pg_has_role('pg_read_all_stats', 'usage') as "has_all_stats!",
            current_setting('track_activities')::boolean as "tracks_activities!",
            current_setting('track_counts')::boolean as "tracks_counts!",
            has_function_privilege('pg_ls_waldir()', 'execute') as "lists_wal!",
            current_setting('archive_mode') <> 'off' as "archives!",
            current_setting('log_error_verbosity') as "error_verbosity!"
        "#
    )
    .fetch_one(conn)
    .await?)
}

/// No more than this many reviews and endpoints are counted.
pub const COUNTED: i64 = 100_000;

/// The age is that of the longest wait among this many items that were accepted first.
const FIRST: i64 = 1_000;

/// Items that wait for a person.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reviews {
    /// How many; [`COUNTED`] if there are more.
    pub waiting: i64,
    /// How long the oldest has waited, in seconds; 0 if none waits.
    pub oldest_seconds: f64,
    /// How many reviews of the desk should have been decided by now; [`COUNTED`] if there are more.
    pub overdue: i64,
}

/// The endpoints that were not deleted, by the state of their deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoints {
    /// The last attempt succeeded, or there was none.
    pub working: i64,
    /// The last attempt failed. The next ones are sent as planned.
    pub failing: i64,
    /// So many attempts failed that the endpoint is paused and tried from time to time.
    pub open: i64,
    /// Disabled by its owner, by an answer 410, or after five days without a success.
    pub disabled: i64,
}

/// The reviews of all teams.
///
/// Ids of items are in the order in which the items were accepted, and items that were accepted
/// first wait longest. So the index on ids finds the oldest review. Only an item that waited long
/// before it came to a person can hide an older review among more than a thousand that wait.
pub async fn reviews(conn: &mut PgConnection) -> Result<Reviews, Error> {
    Ok(sqlx::query_as!(
        Reviews,
        r#"
        select
            (select count(*) from (select from reviews limit $1) as counted) as "waiting!",
            coalesce(
                (
                    select extract(epoch from now() - min(waiting_since))
                    from (select waiting_since from reviews order by media_id limit $2) as first
                ),
                0
            )::float8 as "oldest_seconds!",
            (
                select count(*)
                from (
                    select
                    from review_tasks
                    where due_at < now() and held_until is null and only_for is null
                    limit $1
                ) as late
            ) as "overdue!"
        "#,
        COUNTED,
        FIRST,
    )
    .fetch_one(conn)
    .await?)
}

/// The endpoints of all teams. If there are more than [`COUNTED`], some are not counted.
pub async fn endpoints(conn: &mut PgConnection) -> Result<Endpoints, Error> {
    Ok(sqlx::query_as!(
        Endpoints,
        r#"
        select
            count(*) filter (where disabled_at is null and failing_since is null and open_until is null) as "working!",
            count(*) filter (
                where disabled_at is null and failing_since is not null and open_until is null
            ) as "failing!",
            count(*) filter (where disabled_at is null and open_until is not null) as "open!",
            count(*) filter (where disabled_at is not null) as "disabled!"
        from (
            select id, disabled_at from webhook_endpoints where deleted_at is null limit $1
        ) as e
        left join webhook_endpoint_states as s on s.endpoint_id = e.id
        "#,
        COUNTED,
    )
    .fetch_one(conn)
    .await?)
}
