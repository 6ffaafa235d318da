//! A slice of an erasure: what comes next, and the effect of having done it.

mod certify;
mod events;
mod next_items;
mod remove;
mod second_pass;
mod status;

use std::time::Duration;

use domain::id::{ErasureId, SiteId, TeamId};
use queue::{Effect, FinishTx, Survivor};
use sqlx::PgPool;
use uuid::Uuid;

use self::{
    certify::Certified, events::Walked, next_items::Looked, remove::Removal, status::standing,
};
use super::Erasure;
use crate::{
    Error,
    chain::{self, End, Step},
    encryption::MasterKey,
    jobs,
};

/// Items of a slice. They are locked for some tens of milliseconds.
pub const SLICE: i64 = 500;

/// The pause before looking again whether older transactions have ended, or whether others have let go of items.
const PAUSE: Duration = Duration::from_millis(200);

/// What a job must do.
#[derive(Debug)]
pub enum Next {
    /// Nothing: the erasure has ended.
    Nothing,
    /// Come back after this time: transactions that began before the first phase ended are still running.
    Later(Duration),
    /// This.
    Slice(Box<Slice>),
}

/// The next slice, and with it the effect of erasing what is in it.
#[derive(Debug)]
pub struct Slice {
    erasure: ErasureId,
    team: TeamId,
    /// How many slices were done before.
    from: i64,
    task: Task,
}

#[derive(Debug)]
enum Task {
    /// Empty these items of a site.
    Remove(Removal),
    /// There is no other site: the second phase begins.
    Settle,
    /// Remove events of these items.
    Events(Walked),
    /// All events are gone: remove again what belongs to these items.
    Again(Vec<Uuid>),
    /// There are no more of them: the certificate is made.
    Close,
    /// Store the certificate.
    Certify(Certified),
}

/// Loads the next slice.
pub async fn next(
    pool: &PgPool,
    master_key: &MasterKey,
    erasure: ErasureId,
) -> Result<Next, Error> {
    let Some(standing) = standing(pool, erasure).await? else {
        return Ok(Next::Nothing);
    };
    let mut conn = pool.acquire().await?;
    let task = match standing.phase {
        status::Phase::Remove => match next_items::place(&mut conn, &standing).await? {
            None => Task::Settle,
            Some(place) => {
                let Looked { items, to } = next_items::items(&mut conn, &standing, place).await?;
                Task::Remove(Removal {
                    site: place.site,
                    author: standing.author(),
                    items,
                    to,
                })
            }
        },
        status::Phase::Again if !standing.is_settled => return Ok(Next::Later(PAUSE)),
        status::Phase::Again => match events::next(&mut conn, &standing).await? {
            Some(walked) => Task::Events(walked),
            None => match second_pass::items(&mut conn, erasure).await? {
                items if items.is_empty() => Task::Close,
                items => Task::Again(items),
            },
        },
        status::Phase::Certify => {
            drop(conn);
            Task::Certify(certify::certify(pool, master_key, &standing).await?)
        }
    };
    Ok(Next::Slice(Box::new(Slice {
        erasure,
        team: standing.team,
        from: standing.walked_to,
        task,
    })))
}

/// Where a walk is: after an item of a site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    site: SiteId,
    after: Uuid,
}

impl Effect for Box<Slice> {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        for Survivor { effect: slice, .. } in batch {
            let is_last = matches!(slice.task, Task::Certify(_));
            let step = Step {
                from: slice.from,
                to: slice.from + 1,
                end: End::of(is_last),
            };
            if !chain::advance::<Erasure>(tx.conn, slice.erasure.as_uuid(), step).await? {
                continue;
            }
            let mut next = jobs::erase(slice.erasure, slice.team);
            match &slice.task {
                Task::Remove(removal) => {
                    if removal.apply(tx.conn, slice.erasure).await?.is_held_up {
                        next = next.delay(PAUSE);
                    }
                }
                Task::Settle => second_pass::settle(tx.conn, slice.erasure).await?,
                Task::Events(walked) => walked.apply(tx.conn, slice.erasure).await?,
                Task::Again(items) => second_pass::remove(tx.conn, slice.erasure, items).await?,
                Task::Close => second_pass::close(tx.conn, slice.erasure).await?,
                Task::Certify(certified) => {
                    certified.store(tx.conn, slice.erasure).await?;
                    continue;
                }
            }
            tx.jobs.push(next);
        }
        Ok(())
    }
}
