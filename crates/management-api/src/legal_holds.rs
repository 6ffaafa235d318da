//! Legal holds: list, create, read, lift.

use api_common::{Code, Created, Field, Json, JsonBody, Path, Query, Refusal, Schema, Time, given};
use domain::{
    author::Author,
    id::{ActorId, HoldId, MediaId, SiteId},
    reason::Reason,
    scope::Scope,
};
use management::legal_holds;
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct LegalHolds;

#[OpenApi(tag = "Tag::LegalHolds")]
impl LegalHolds {
    /// List legal holds
    ///
    /// Oldest first, with those that were lifted.
    #[oai(path = "/legal-holds", method = "get", operation_id = "listLegalHolds")]
    async fn list_legal_holds(
        &self,
        caller: Caller,
        /// Only holds of this site.
        site_id: Query<Uuid>,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<LegalHold>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let site = site_id.0.map(Into::into);
        let holds = legal_holds::list(&caller, site, part.page()).await?;
        Ok(Json(part.list(holds, |hold| hold.id.as_uuid())))
    }

    /// Create a legal hold
    ///
    /// From the answer on, and until the hold is lifted, no retention removes anything of what it names: all items of a site,
    /// one item, or the items of an author. That goes for whole items, for their content and for files of images. At most
    /// 1,000 holds of a team are in force.
    #[oai(
        path = "/legal-holds",
        method = "post",
        operation_id = "createLegalHold"
    )]
    async fn create_legal_hold(
        &self,
        caller: Caller,
        request: JsonBody<NewLegalHold>,
    ) -> Result<Created<LegalHold>, Refusal> {
        let hold = legal_holds::create(&caller, request.value.into()).await?;
        Ok(Created::at(
            format!("{PREFIX}/legal-holds/{}", hold.id),
            hold,
        ))
    }

    /// Read a legal hold
    #[oai(
        path = "/legal-holds/:hold_id",
        method = "get",
        operation_id = "getLegalHold"
    )]
    async fn get_legal_hold(
        &self,
        caller: Caller,
        /// The hold.
        hold_id: Path<HoldId>,
    ) -> Result<Json<LegalHold>, Refusal> {
        let hold = legal_holds::get(&caller, hold_id.0).await?;
        Ok(Json(hold.into()))
    }

    /// Lift a legal hold
    ///
    /// The retention of its site applies again. What is old enough by then is removed within about a day. A hold that was lifted
    /// before stays as it is.
    #[oai(
        path = "/legal-holds/:hold_id/lift",
        method = "post",
        operation_id = "liftLegalHold"
    )]
    async fn lift_legal_hold(
        &self,
        caller: Caller,
        /// The hold.
        hold_id: Path<HoldId>,
    ) -> Result<Json<LegalHold>, Refusal> {
        let hold = legal_holds::lift(&caller, hold_id.0).await?;
        Ok(Json(hold.into()))
    }
}

/// A legal hold: while it is in force, nothing is removed of what it names.
#[derive(Serialize, Schema)]
pub(crate) struct LegalHold {
    /// The hold.
    id: Uuid,
    /// The team.
    team_id: Uuid,
    /// The site. Without `media_id` and `author`, all of its items are held.
    site_id: Uuid,
    /// The item that is held.
    #[schema(nullable)]
    media_id: Option<Uuid>,
    /// The author whose items are held.
    #[schema(nullable)]
    author: Option<Field<Author>>,
    /// Why.
    reason: Field<Reason>,
    /// The person or the token that created it. `null` for the command line.
    #[schema(nullable)]
    created_by: Option<Uuid>,
    /// When it was created.
    created_at: Field<Time>,
    /// When it was lifted. `null` while it is in force.
    #[schema(nullable)]
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
#[derive(Deserialize, Schema)]
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

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    vec![
        Operation::new("listLegalHolds", Scope::HoldsRead)
            .answer(example_values::list(&hold(&json!(null)))),
        Operation::new("createLegalHold", Scope::HoldsWrite)
            .problems(&[Code::LimitReached])
            .request(json!({
                "site_id": example_values::SITE,
                "media_id": example_values::MEDIA,
                "reason": "Case 12/2026 of the public prosecutor.",
            }))
            .answer(hold(&json!(null))),
        Operation::new("getLegalHold", Scope::HoldsRead).answer(hold(&json!(null))),
        Operation::new("liftLegalHold", Scope::HoldsWrite)
            .answer(hold(&json!("2026-05-02T08:30:00.000000Z"))),
    ]
}

fn hold(lifted_at: &Value) -> Value {
    json!({
        "id": example_values::HOLD,
        "team_id": example_values::TEAM,
        "site_id": example_values::SITE,
        "media_id": example_values::MEDIA,
        "author": null,
        "reason": "Case 12/2026 of the public prosecutor.",
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
        "lifted_at": lifted_at,
    })
}
