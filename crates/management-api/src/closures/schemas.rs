//! Closures in requests and responses.

use api_common::field::{Field, Time, given};
use domain::{
    closure::{ClosureState, GraceDays, WaitsFor},
    id::{ActorId, ErasureId, SiteId, TeamId},
};
use management::{
    Refused,
    closures::{self, Wanted, What},
};
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What to close. Give exactly one of `site_id` and `team_id`.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewClosure {
    /// The site to close.
    #[serde(default, deserialize_with = "given")]
    site_id: Option<Field<SiteId>>,
    /// The team to close, with all its sites.
    #[serde(default, deserialize_with = "given")]
    team_id: Option<Field<TeamId>>,
    /// The exact name of the site or the team, as a protection against accidents.
    name: String,
    /// How many days the closure can be cancelled, and its exports be read. If omitted, 30. With 0, erasing begins at once.
    #[serde(default, deserialize_with = "given")]
    grace_days: Option<Field<GraceDays>>,
}

/// How long a closure can be cancelled if nothing else is said.
const GRACE: GraceDays = GraceDays::of::<30>();

impl NewClosure {
    /// # Errors
    /// Not exactly one of site and team is named.
    pub(super) fn read(self) -> Result<Wanted, Refused> {
        let what = match (self.site_id, self.team_id) {
            (Some(site), None) => What::Site(site.0),
            (None, Some(team)) => What::Team(team.0),
            (Some(_), Some(_)) => {
                return Err(Refused::field("team_id", "cannot be given with site_id"));
            }
            (None, None) => return Err(Refused::field("site_id", "or team_id is required")),
        };
        Ok(Wanted {
            what,
            name: self.name,
            grace: self.grace_days.map_or(GRACE, |days| days.0),
        })
    }
}

/// A closure of a site or a team, and how far it has got.
#[derive(Serialize, Object)]
pub(crate) struct Closure {
    /// The closure.
    id: Uuid,
    /// Its team.
    team_id: Uuid,
    /// The site that it closes. `null` means the team with all its sites.
    #[oai(nullable)]
    site_id: Option<Uuid>,
    /// The name of the site or the team. A site that has been erased is called `closed` and its id.
    name: String,
    /// How far it is.
    state: Field<ClosureState>,
    /// When the grace ends. Until then, the closure can be cancelled, and its exports can be read.
    erase_at: Field<Time>,
    /// What it waits for, beside the end of the grace and its own erasures. `null` if for nothing else.
    #[oai(nullable)]
    waits_for: Option<Field<WaitsFor>>,
    /// The sites that it closes, at most 1,000 of them. Empty if it was cancelled.
    sites: Vec<ClosedSite>,
    /// Why it failed. `null` if it did not.
    #[oai(nullable)]
    error: Option<String>,
    /// The person or token that asked for it. `null` for the command line.
    #[oai(nullable)]
    created_by: Option<Uuid>,
    /// When it was asked for.
    created_at: Field<Time>,
    /// When it ended. `null` while it runs.
    #[oai(nullable)]
    ended_at: Option<Field<Time>>,
}

/// A site that a closure closes.
#[derive(Serialize, Object)]
struct ClosedSite {
    /// The site.
    site_id: Uuid,
    /// Its name. A site that has been erased is called `closed` and its id.
    name: String,
    /// Its export.
    export_id: Uuid,
    /// Its erasure, which ends with a certificate. `null` before it began.
    #[oai(nullable)]
    erasure_id: Option<Uuid>,
}

impl From<closures::Closure> for Closure {
    fn from(closure: closures::Closure) -> Self {
        let sites = closure.sites.into_iter();
        Self {
            id: closure.id.as_uuid(),
            team_id: closure.team.as_uuid(),
            site_id: closure.site.map(SiteId::as_uuid),
            name: closure.name,
            state: Field(closure.state),
            erase_at: closure.erase_at.into(),
            waits_for: closure.waits_for.map(Field),
            sites: sites
                .map(|site| ClosedSite {
                    site_id: site.site.as_uuid(),
                    name: site.name,
                    export_id: site.export.as_uuid(),
                    erasure_id: site.erasure.map(ErasureId::as_uuid),
                })
                .collect(),
            error: closure.error,
            created_by: closure.created_by.map(ActorId::as_uuid),
            created_at: closure.created_at.into(),
            ended_at: closure.ended_at.map(Field::from),
        }
    }
}
