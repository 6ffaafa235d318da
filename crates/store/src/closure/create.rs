//! Beginning to close a site or a team.

use std::time::Duration;

use domain::{
    actor::Actor,
    closure::{GraceDays, MOST},
    id::{ClosureId, HoldId, SiteId, TeamId},
};
use queue::NewJobs;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Closing, of_site, of_team};
use crate::{Error, chain, jobs};

/// A closure to begin.
#[derive(Clone, Copy, Debug)]
pub struct NewClosure {
    /// The team,
    pub team: TeamId,
    /// or only this site of it.
    pub site: Option<SiteId>,
    /// How long it can be cancelled.
    pub grace: GraceDays,
    /// Who asks for it.
    pub by: Actor,
}

/// Why nothing is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotCreated {
    /// It is closed, or being closed.
    Closing(Closing),
    /// This closure of a site of the team has not ended.
    OfSite(ClosureId),
    /// These legal holds are in force, and perhaps others.
    Held(Vec<HoldId>),
    /// The team has [`MOST`] closures.
    TooMany,
}

/// How many legal holds are named that are in force.
const NAMED: i64 = 5;

/// Disables the site, or all sites of the team, and creates an export of each. Tell the queue of the
/// job after the commit. Run it in a transaction.
pub async fn create(
    conn: &mut PgConnection,
    new: NewClosure,
) -> Result<Result<(ClosureId, NewJobs), NotCreated>, Error> {
    // Code that locks a team and a site locks the site first.
    lock_sites(conn, new.team, new.site).await?;
    if let Some(closing) = of_team(conn, new.team).await? {
        return Ok(Err(NotCreated::Closing(closing)));
    }
    match new.site {
        Some(site) => {
            if let Some(closing) = of_site(conn, site).await? {
                return Ok(Err(NotCreated::Closing(closing)));
            }
        }
        None => {
            if let Some(closure) = not_ended(conn, new.team).await? {
                return Ok(Err(NotCreated::OfSite(closure)));
            }
        }
    }
    // The team is locked, so none is created any more.
    let sites = open_sites(conn, new.team, new.site).await?;
    let holds = holds(conn, &sites).await?;
    if !holds.is_empty() {
        return Ok(Err(NotCreated::Held(holds)));
    }
    if count(conn, new.team).await? >= MOST {
        return Ok(Err(NotCreated::TooMany));
    }
    let id = ClosureId::from(Uuid::now_v7());
    insert(conn, id, new).await?;
    disable(conn, id, new, &sites).await?;
    export(conn, id, &sites).await?;
    let days = u64::try_from(new.grace.get()).unwrap_or(0);
    let job = jobs::close(id, new.team).delay(Duration::from_hours(24 * days));
    let jobs = chain::begin(conn, job).await?;
    Ok(Ok((id, jobs)))
}

async fn lock_sites(
    conn: &mut PgConnection,
    team: TeamId,
    site: Option<SiteId>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        select id from sites
        where team_id = $1 and ($2::uuid is null or id = $2)
        order by id
        for no key update
        ",
        team.as_uuid(),
        site.map(SiteId::as_uuid),
    )
    .fetch_all(conn)
    .await?;
    Ok(())
}

/// A closure of the team, or of a site of it, that has not ended.
async fn not_ended(
    conn: &mut PgConnection,
    team: TeamId,
) -> Result<Option<ClosureId>, sqlx::Error> {
    let id = sqlx::query_scalar!(
        "select id from closures where team_id = $1 and state in ('running', 'failed') limit 1",
        team.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(id.map(ClosureId::from))
}

async fn open_sites(
    conn: &mut PgConnection,
    team: TeamId,
    site: Option<SiteId>,
) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "
        select id from sites
        where team_id = $1 and ($2::uuid is null or id = $2) and closure_id is null
        order by id
        ",
        team.as_uuid(),
        site.map(SiteId::as_uuid),
    )
    .fetch_all(conn)
    .await
}

async fn holds(conn: &mut PgConnection, sites: &[Uuid]) -> Result<Vec<HoldId>, sqlx::Error> {
    let holds = sqlx::query_scalar!(
        "select id from legal_holds where site_id = any($1) and lifted_at is null order by id limit $2",
        sites,
        NAMED,
    )
    .fetch_all(conn)
    .await?;
    Ok(holds.into_iter().map(HoldId::from).collect())
}

async fn count(conn: &mut PgConnection, team: TeamId) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select count(*) as "count!" from closures where team_id = $1"#,
        team.as_uuid(),
    )
    .fetch_one(conn)
    .await
}

async fn insert(
    conn: &mut PgConnection,
    id: ClosureId,
    new: NewClosure,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        insert into closures (id, team_id, site_id, erase_at, created_by)
        values ($1, $2, $3, now() + $4::bigint * interval '1 day', $5)
        ",
        id.as_uuid(),
        new.team.as_uuid(),
        new.site.map(SiteId::as_uuid),
        new.grace.get(),
        new.by.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Their revisions rise, so from the commit on nothing is accepted for them.
async fn disable(
    conn: &mut PgConnection,
    id: ClosureId,
    new: NewClosure,
    sites: &[Uuid],
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update sites set closure_id = $1 where id = any($2)",
        id.as_uuid(),
        sites,
    )
    .execute(&mut *conn)
    .await?;
    if new.site.is_none() {
        sqlx::query!(
            "update teams set closure_id = $1 where id = $2",
            id.as_uuid(),
            new.team.as_uuid(),
        )
        .execute(conn)
        .await?;
    }
    Ok(())
}

/// Creates an export of each site, which can be read until the grace ends.
async fn export(conn: &mut PgConnection, id: ClosureId, sites: &[Uuid]) -> Result<(), sqlx::Error> {
    let exports: Vec<Uuid> = sites.iter().map(|_| Uuid::now_v7()).collect();
    sqlx::query!(
        "
        with created as (
            insert into exports (id, team_id, site_id, created_by, upto, expires_at, closure_id)
            select x.export_id, c.team_id, x.site_id, c.created_by, $4, c.erase_at, c.id
            from closures c
            cross join unnest($2::uuid [], $3::uuid []) x(site_id, export_id)
            where c.id = $1
        )
        insert into closure_sites (closure_id, site_id, export_id)
        select $1, x.site_id, x.export_id
        from unnest($2::uuid [], $3::uuid []) x(site_id, export_id)
        ",
        id.as_uuid(),
        sites,
        &exports,
        // Larger than the id of everything that this process has accepted.
        Uuid::now_v7(),
    )
    .execute(conn)
    .await?;
    Ok(())
}
