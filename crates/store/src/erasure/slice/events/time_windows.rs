//! Where events of the items can be.

use chrono::{DateTime, Utc};
use domain::id::SiteId;
use sqlx::PgConnection;
use uuid::Uuid;

use super::super::Standing;
use crate::{
    Error,
    id_time::{ids_of_its_millisecond, ids_within, time_of},
};

/// Of so many items, each has windows of its own. Otherwise one window of each site begins with the oldest item.
const FEW_ITEMS: i64 = 500;

/// And if they have no more verdicts than this.
const FEW_VERDICTS: i64 = 5_000;

/// Events of a site: from this id on, up to but not including the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Window {
    pub(super) site: Uuid,
    pub(super) from: Uuid,
    pub(super) until: Uuid,
}

/// Windows that have all events of the items that are left, in the order of sites and ids. None meets another one.
pub(super) async fn windows(
    conn: &mut PgConnection,
    standing: &Standing,
) -> Result<Vec<Window>, Error> {
    if standing.counts.items <= FEW_ITEMS {
        let times = times(conn, standing).await?;
        if i64::try_from(times.len()).unwrap_or(i64::MAX) <= FEW_VERDICTS {
            return Ok(merged(times.iter().flat_map(Times::windows).collect()));
        }
    }
    of_sites(conn, standing).await
}

/// When an item was accepted and got a verdict.
struct Times {
    site: Uuid,
    item: Uuid,
    moderated_at: Option<DateTime<Utc>>,
}

impl Times {
    /// The event of the acceptance has the item's millisecond. That of a verdict got its id from the clock of a process.
    fn windows(&self) -> impl Iterator<Item = Window> + use<> {
        let site = self.site;
        let verdict = self.moderated_at.map(|at| ids_within(Some(at), Some(at)));
        [Some(ids_of_its_millisecond(self.item)), verdict]
            .into_iter()
            .flatten()
            .map(move |(from, until)| Window { site, from, until })
    }
}

async fn times(conn: &mut PgConnection, standing: &Standing) -> Result<Vec<Times>, sqlx::Error> {
    sqlx::query_as!(
        Times,
        r#"
        select m.site_id as site, m.id as item, v.moderated_at as "moderated_at?"
        from erased_items i
        join media m on m.id = i.media_id
        left join verdicts v on v.media_id = m.id
        where i.erasure_id = $1
        limit $2
        "#,
        standing.erasure.as_uuid(),
        FEW_VERDICTS + 1,
    )
    .fetch_all(conn)
    .await
}

/// One window for each site of the team: from the oldest item to the end of the first phase, after which nothing is told of an item.
async fn of_sites(conn: &mut PgConnection, standing: &Standing) -> Result<Vec<Window>, Error> {
    let oldest = sqlx::query_scalar!(
        "select media_id from erased_items where erasure_id = $1 order by media_id limit 1",
        standing.erasure.as_uuid(),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(oldest) = oldest else {
        return Ok(Vec::new());
    };
    let (from, until) = ids_within(Some(time_of(oldest)), standing.settled_at);
    let sites = sqlx::query_scalar!(
        "select id from sites where team_id = $1 and ($2::uuid is null or id = $2) order by id",
        standing.team.as_uuid(),
        standing.site.map(SiteId::as_uuid),
    )
    .fetch_all(conn)
    .await?;
    let windows = sites.into_iter().map(|site| Window { site, from, until });
    Ok(windows.collect())
}

/// Joins windows that meet.
fn merged(mut windows: Vec<Window>) -> Vec<Window> {
    windows.sort_unstable();
    windows.dedup_by(|next, last| {
        let meets = next.site == last.site && next.from <= last.until;
        if meets {
            last.until = last.until.max(next.until);
        }
        meets
    });
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(site: u128, from: u128, until: u128) -> Window {
        Window {
            site: Uuid::from_u128(site),
            from: Uuid::from_u128(from),
            until: Uuid::from_u128(until),
        }
    }

    #[test]
    fn windows_of_a_site_that_meet_become_one() {
        let of_items = [
            window(2, 1, 9),
            window(1, 5, 6),
            window(1, 1, 3),
            window(1, 2, 4),
            window(1, 6, 8),
            window(1, 1, 2),
        ];
        let expected = [window(1, 1, 4), window(1, 5, 8), window(2, 1, 9)];
        assert_eq!(merged(of_items.to_vec()), expected);
    }
}
