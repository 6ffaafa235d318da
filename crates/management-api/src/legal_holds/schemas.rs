//! Legal holds in requests and responses.

use api_common::field::{Field, Time, given};
use domain::{
    author::Author,
    id::{ActorId, MediaId, SiteId},
    reason::Reason,
};
use management::legal_holds;
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A legal hold: while it is in force, nothing is removed of what it names.
#[derive(Serialize, Object)]
pub(crate) struct LegalHold {
    /// The hold.
    id: Uuid,
    /// The team.
    team_id: Uuid,
    /// The site. Without `media_id` and `author`, all of its items are held.
    site_id: Uuid,
    /// The item that is held.
    #[oai(nullable)]
    media_id: Option<Uuid>,
    /// The author whose items are held.
    #[oai(nullable)]
    author: Option<Field<Author>>,
    /// Why.
    reason: Field<Reason>,
    /// The person or the token that created it. `null` for the command line.
    #[oai(nullable)]
    created_by: Option<Uuid>,
    /// When it was created.
    created_at: Field<Time>,
    /// When it was lifted. `null` while it is in force.
    #[oai(nullable)]
    lifted_at: Option<Field<Time>>,
}

impl From<legal_holds::Hold> for LegalHold {
    fn from(hold: legal_holds::Hold) -> Self {
        Self {
            id: hold.id.as_uuid(),
            team_id: hold.team.as_uuid(),
            site_id: hold.site.as_uuid(),
            media_id: hold.what.media().map(MediaId::as_uuid),
            author: hold.what.author().cloned().map(Field),
            reason: Field(hold.reason),
            created_by: hold.created_by.map(ActorId::as_uuid),
            created_at: hold.created_at.into(),
            lifted_at: hold.lifted_at.map(Field::from),
        }
    }
}

/// A legal hold to create: of a site, of one of its items, or of one of its authors.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewLegalHold {
    /// The site.
    site_id: Field<SiteId>,
    /// Hold only this item of the site.
    #[serde(default, deserialize_with = "given")]
    media_id: Option<Field<MediaId>>,
    /// Hold only items by this author. An item has the author that it had when it was accepted. Not together with `media_id`.
    #[serde(default, deserialize_with = "given")]
    author: Option<Field<Author>>,
    /// Why, for the people who read this later.
    reason: Field<Reason>,
}

impl From<NewLegalHold> for legal_holds::NewHold {
    fn from(new: NewLegalHold) -> Self {
        Self {
            site: new.site_id.0,
            media: new.media_id.map(|media| media.0),
            author: new.author.map(|author| author.0),
            reason: new.reason.0,
        }
    }
}
