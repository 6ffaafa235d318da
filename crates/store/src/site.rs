//! Sites: the applications that submit media.
//!
//! A site is created with a webhook secret ([`create()`]) and gets keys ([`keys`]). Its team
//! changes its [`settings`] and rotates its [`webhook_secret`]. Submissions see a cached copy of it
//! ([`Sites`]).

mod create;
mod imported;
pub mod keys;
pub mod readiness;
pub mod settings;
mod snapshot;
pub mod webhook_secret;

use domain::id::{SiteId, TeamId};
use sqlx::PgConnection;

use crate::Error;

pub use self::{
    create::{FoundSite, create, find_named, team_of},
    imported::{import, is_named},
    snapshot::{Judges, Site, Sites, Subscriber},
};

/// Two sites of a team cannot have one name.
const NAME_KEY: &str = "sites_name_key";

/// How many sites of a team, the newest ones, are looked at together.
const MOST: i64 = 1_000;

/// The ids of a team's sites, the newest first, or of one of them.
pub async fn of_team(
    conn: &mut PgConnection,
    team: TeamId,
    only: Option<SiteId>,
) -> Result<Vec<SiteId>, Error> {
    let ids = sqlx::query_scalar!(
        "
        select id
        from sites
        where team_id = $1 and ($2::uuid is null or id = $2)
        order by id desc
        limit $3
        ",
        team.as_uuid(),
        only.map(SiteId::as_uuid),
        MOST,
    )
    .fetch_all(conn)
    .await?;
    Ok(ids.into_iter().map(SiteId::from).collect())
}
