//! Exports in requests and responses.

use api_common::field::{Field, Time};
use domain::id::{ActorId, SiteId};
use management::exports;
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// An archive of a site's data that can be downloaded.
#[derive(Serialize, Object)]
pub(crate) struct Export {
    /// The export.
    id: Uuid,
    /// Its team.
    team_id: Uuid,
    /// The site whose data it contains.
    site_id: Uuid,
    /// The token or person that created it. `null` for the command line.
    #[oai(nullable)]
    created_by: Option<Uuid>,
    /// When it was created.
    created_at: Field<Time>,
    /// The boundary: items with smaller IDs are in it.
    upto: Uuid,
    /// It can be downloaded until then.
    expires_at: Field<Time>,
}

impl From<exports::Export> for Export {
    fn from(export: exports::Export) -> Self {
        Self {
            id: export.id.as_uuid(),
            team_id: export.team.as_uuid(),
            site_id: export.site.as_uuid(),
            created_by: export.created_by.map(ActorId::as_uuid),
            created_at: export.created_at.into(),
            upto: export.upto,
            expires_at: export.expires_at.into(),
        }
    }
}

/// An export to create.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewExport {
    /// The site.
    pub(super) site_id: Field<SiteId>,
}
