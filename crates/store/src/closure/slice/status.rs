//! Where a closure stands.

use std::time::Duration;

use domain::{
    actor::Actor,
    id::{ClosureId, MemberId, SiteId, TeamId, TokenId},
};
use sqlx::PgPool;
use uuid::Uuid;

use crate::Error;

/// What a closure does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It waits for the end of the grace.
    Grace,
    /// It erases its sites.
    Erase,
}

pub(super) struct Standing {
    pub(super) closure: ClosureId,
    pub(super) team: TeamId,
    pub(super) site: Option<SiteId>,
    pub(super) by: Actor,
    pub(super) walked_to: i64,
    pub(super) phase: Phase,
    /// The time until the grace ends; none if it is over.
    pub(super) grace_left: Option<Duration>,
    pub(super) is_settled: bool,
}

pub(super) async fn standing(pool: &PgPool, closure: ClosureId) -> Result<Option<Standing>, Error> {
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
    row.map(|row| {
        Ok(Standing {
            closure,
            team: row.team_id.into(),
            site: row.site_id.map(SiteId::from),
            by: actor(row.created_by, row.kind.as_deref())?,
            walked_to: row.walked_to,
            phase: match row.phase.as_str() {
                "grace" => Phase::Grace,
                "erase" => Phase::Erase,
                _ => return Err(Error::Unreadable("a closure without a known phase".into())),
            },
            grace_left: (row.left > 0.0).then(|| Duration::from_secs_f64(row.left)),
            is_settled: row.is_settled == Some(true),
        })
    })
    .transpose()
}

fn actor(id: Option<Uuid>, kind: Option<&str>) -> Result<Actor, Error> {
    match (id, kind) {
        (None, _) => Ok(Actor::CommandLine),
        (Some(id), Some("token")) => Ok(Actor::Token(TokenId::from(id))),
        (Some(id), Some("member")) => Ok(Actor::Member(MemberId::from(id))),
        (Some(_), _) => Err(Error::Unreadable("a closure by an unknown actor".into())),
    }
}

/// A site that is not done.
pub(super) struct Site {
    pub(super) site: SiteId,
    pub(super) erasure: Erased,
}

/// How far its erasure is.
pub(super) enum Erased {
    NotBegun,
    /// It has run for so long.
    Running(Duration),
    Failed,
    Done,
}

/// The first site of a closure that is not done; none if all are.
pub(super) async fn first_site(pool: &PgPool, closure: ClosureId) -> Result<Option<Site>, Error> {
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
    Ok(row.map(|row| Site {
        site: row.site_id.into(),
        erasure: match (row.erasure_id, row.state.as_deref()) {
            (None, _) => Erased::NotBegun,
            (Some(_), Some("running")) => {
                Erased::Running(Duration::from_secs_f64(row.age.unwrap_or(0.0).max(0.0)))
            }
            // One that has finished is forgotten after some time. One that has failed never is.
            (Some(_), Some("finished") | None) => Erased::Done,
            (Some(_), Some(_)) => Erased::Failed,
        },
    }))
}
