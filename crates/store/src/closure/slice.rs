//! A step of a closure after its grace: what comes next, and the effect of having done it.

mod remove;

use std::time::Duration;

use domain::{
    actor::Actor,
    closure::WaitsFor,
    erasure::Subject,
    id::{ClosureId, MemberId, SiteId, TeamId, TokenId},
};
use queue::{Effect, FinishTx, Survivor};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use self::remove::Removal;
use super::Closure;
use crate::{
    Error,
    chain::{self, End, Next, Step},
    encryption::MasterKey,
    erasure::{self, NewErasure},
    jobs,
};

/// The pause before looking again whether older transactions have ended.
const PAUSE: Duration = Duration::from_millis(500);

/// An erasure is looked at again after a tenth of the time that it has run, but within these bounds.
const LOOKS: [Duration; 2] = [Duration::from_secs(1), Duration::from_mins(5)];

/// The pause before looking again whether it can go on.
const fn pause(waits_for: WaitsFor) -> Duration {
    match waits_for {
        WaitsFor::LegalHold => Duration::from_hours(24),
        WaitsFor::OtherErasures => Duration::from_mins(1),
        WaitsFor::FailedErasure => Duration::from_hours(1),
    }
}

/// The next step, and with it the effect of doing it.
#[derive(Debug)]
pub struct Slice {
    closure: ClosureId,
    team: TeamId,
    /// Who asked for the closure.
    by: Actor,
    /// How many steps were done before.
    from: i64,
    task: Task,
}

#[derive(Debug)]
enum Task {
    /// The grace is over: from now on, nothing can be opened again.
    Begin,
    /// Start the erasure of everything of this site.
    Erase(SiteId),
    /// Look again later.
    Wait(WaitsFor),
    /// The site is erased: remove what is left of it.
    Remove(Removal),
    /// All sites are done: end the team, if it is closed, and the closure.
    Finish(Option<SiteId>),
}

/// Loads the next step.
pub async fn next(
    pool: &PgPool,
    master_key: &MasterKey,
    closure: ClosureId,
) -> Result<Next<Box<Slice>>, Error> {
    let row = sqlx::query!(
        r#"
        select
            c.team_id, c.site_id, c.walked_to, c.phase, c.created_by, a.kind as "kind?",
            extract(epoch from c.erase_at - clock_timestamp())::float8 as "left!",
            pg_snapshot_xmin(pg_current_snapshot()) > c.erase_after as is_settled
        from closures c
        left join actors a on a.id = c.created_by
        where c.id = $1 and c.state = 'running'
        "#,
        closure.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    let Some(row) = row else {
        return Ok(Next::Nothing);
    };
    let task = match row.phase.as_str() {
        "grace" if row.left > 0.0 => return Ok(Next::Later(Duration::from_secs_f64(row.left))),
        "grace" => Task::Begin,
        // A submission may be on its way that found the site open.
        "erase" if row.is_settled != Some(true) => return Ok(Next::Later(PAUSE)),
        "erase" => {
            let of_site = row.site_id.map(SiteId::from);
            match of_sites(pool, master_key, closure, of_site).await? {
                Ok(task) => task,
                Err(later) => return Ok(Next::Later(later)),
            }
        }
        _ => return Err(Error::Unreadable("a closure without a known phase".into())),
    };
    Ok(Next::Slice(Box::new(Slice {
        closure,
        team: row.team_id.into(),
        by: actor(row.created_by, row.kind.as_deref())?,
        from: row.walked_to,
        task,
    })))
}

/// What is to be done with the first site that is not done, or when it is to be looked at again. The
/// closure is of one site or of a team.
async fn of_sites(
    pool: &PgPool,
    master_key: &MasterKey,
    closure: ClosureId,
    of_site: Option<SiteId>,
) -> Result<Result<Task, Duration>, Error> {
    let row = sqlx::query!(
        r#"
        select
            s.site_id, s.erasure_id, e.state as "state?",
            extract(epoch from clock_timestamp() - e.created_at)::float8 as age
        from closure_sites s
        left join erasures e on e.id = s.erasure_id
        where s.closure_id = $1 and s.closed_at is null
        order by s.site_id
        limit 1
        "#,
        closure.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    let Some(row) = row else {
        return Ok(Ok(Task::Finish(of_site)));
    };
    let site = row.site_id.into();
    Ok(match (row.erasure_id, row.state.as_deref()) {
        (None, _) => Ok(Task::Erase(site)),
        (Some(_), Some("running")) => {
            let age = Duration::from_secs_f64(row.age.unwrap_or(0.0).max(0.0));
            Err((age / 10).clamp(LOOKS[0], LOOKS[1]))
        }
        // One that has finished is forgotten after some time. One that has failed never is.
        (Some(_), Some("finished") | None) => Ok(Task::Remove(Removal::new(master_key, site))),
        (Some(_), Some(_)) => Ok(Task::Wait(WaitsFor::FailedErasure)),
    })
}

impl Effect for Box<Slice> {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        for Survivor { effect: slice, .. } in batch {
            let is_last = matches!(slice.task, Task::Finish(_));
            let step = Step {
                from: slice.from,
                to: slice.from + 1,
                end: End::of(is_last),
            };
            if !chain::advance::<Closure>(tx.conn, slice.closure.as_uuid(), step).await? {
                continue;
            }
            let waits_for = match &slice.task {
                Task::Begin => begin(tx.conn, slice.closure).await?,
                Task::Erase(site) => slice.erase(tx, *site).await?,
                Task::Wait(waits_for) => Some(*waits_for),
                Task::Remove(removal) => {
                    removal.apply(tx.conn, slice.closure).await?;
                    None
                }
                Task::Finish(site) => {
                    remove::finish(tx.conn, slice.closure, (slice.team, *site), slice.by).await?;
                    None
                }
            };
            wait_for(tx.conn, slice.closure, waits_for).await?;
            if !is_last {
                let delay = waits_for.map_or(Duration::ZERO, pause);
                tx.jobs
                    .push(jobs::close(slice.closure, slice.team).delay(delay));
            }
        }
        Ok(())
    }
}

impl Slice {
    /// Starts an erasure, unless the team has too many.
    async fn erase(
        &self,
        tx: &mut FinishTx<'_>,
        site: SiteId,
    ) -> Result<Option<WaitsFor>, sqlx::Error> {
        let new = NewErasure {
            team: self.team,
            site: Some(site),
            subject: &Subject::Everything {},
            by: self.by,
        };
        let Some((erasure, job)) = erasure::insert(tx.conn, new).await? else {
            return Ok(Some(WaitsFor::OtherErasures));
        };
        sqlx::query!(
            "update closure_sites set erasure_id = $3 where closure_id = $1 and site_id = $2",
            self.closure.as_uuid(),
            site.as_uuid(),
            erasure.as_uuid(),
        )
        .execute(&mut *tx.conn)
        .await?;
        tx.jobs.push(job);
        Ok(None)
    }
}

/// The grace is over, unless a legal hold is in force. Creating a hold waits until the transaction ends, and is refused then.
async fn begin(
    conn: &mut PgConnection,
    closure: ClosureId,
) -> Result<Option<WaitsFor>, sqlx::Error> {
    sqlx::query!(
        "
        select id from sites
        where id in (select site_id from closure_sites where closure_id = $1)
        order by id
        for no key update
        ",
        closure.as_uuid(),
    )
    .fetch_all(&mut *conn)
    .await?;
    // A statement of its own sees the holds that the lock has waited for.
    let is_held = sqlx::query_scalar!(
        r#"
        select exists (
            select
            from closure_sites s
            join legal_holds h on h.site_id = s.site_id and h.lifted_at is null
            where s.closure_id = $1
        ) as "is!"
        "#,
        closure.as_uuid(),
    )
    .fetch_one(&mut *conn)
    .await?;
    if is_held {
        return Ok(Some(WaitsFor::LegalHold));
    }
    sqlx::query!(
        "update sites set closed_at = now() where id in (select site_id from closure_sites where closure_id = $1)",
        closure.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "update teams set closed_at = now() where closure_id = $1",
        closure.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "update closures set phase = 'erase', erase_after = pg_current_xact_id() where id = $1",
        closure.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(None)
}

async fn wait_for(
    conn: &mut PgConnection,
    closure: ClosureId,
    waits_for: Option<WaitsFor>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update closures set waits_for = $2 where id = $1 and waits_for is distinct from $2",
        closure.as_uuid(),
        waits_for.map(WaitsFor::as_str),
    )
    .execute(conn)
    .await?;
    Ok(())
}

fn actor(id: Option<Uuid>, kind: Option<&str>) -> Result<Actor, Error> {
    match (id, kind) {
        (None, _) => Ok(Actor::CommandLine),
        (Some(id), Some("token")) => Ok(Actor::Token(TokenId::from(id))),
        (Some(id), Some("member")) => Ok(Actor::Member(MemberId::from(id))),
        (Some(_), _) => Err(Error::Unreadable("a closure by an unknown actor".into())),
    }
}
