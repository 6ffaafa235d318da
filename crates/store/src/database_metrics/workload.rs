//! The workload: what waits for people, and how endpoints fare.

use sqlx::PgConnection;

use crate::Error;

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
