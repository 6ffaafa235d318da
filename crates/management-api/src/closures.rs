//! Closures: close a site or a team, watch it, cancel it while that is possible.

use api_common::{
    Accepted, Code, Field, Json, JsonBody, Path, Query, Refusal, Schema, Time, given, or,
};
use domain::{
    closure::{ClosureState, GraceDays, WaitsFor},
    id::{ActorId, ClosureId, ErasureId, SiteId, TeamId},
    scope::Scope,
};
use management::{
    Refused,
    closures::{self, Wanted, What},
};
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct Closures;

#[OpenApi(tag = "Tag::Closures")]
impl Closures {
    /// List closures
    ///
    /// Newest first. Closures are kept for 90 days after their end.
    #[oai(path = "/closures", method = "get", operation_id = "listClosures")]
    async fn list_closures(
        &self,
        caller: Caller,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<Closure>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let found = closures::list(&caller, part.page()).await?;
        Ok(Json(part.list(found, |closure| closure.id.as_uuid())))
    }

    /// Close a site or a team
    ///
    /// Name exactly one of `site_id` and `team_id`, and repeat its `name`. From the answer on, submissions for the site, or for all
    /// sites of the team, are refused with 403 `site_closed`. An export of each site is created, which can be read until
    /// `erase_at`. Until then, the closure can be cancelled. After it, everything that is stored about the sites is erased, site by
    /// site, with a certificate for each, and their keys, webhook endpoints and settings are removed. For a team, tokens are
    /// disabled then, people other than owners are removed, and the subscription ends.
    ///
    /// A closure is refused while a legal hold of the site or team is in force. If one is created during the grace, the closure
    /// waits until it is lifted, and looks once a day. A team can have 1,000 closures, each of which is kept for 90 days after its
    /// end.
    #[oai(path = "/closures", method = "post", operation_id = "createClosure")]
    async fn create_closure(
        &self,
        caller: Caller,
        request: JsonBody<NewClosure>,
    ) -> Result<Accepted<Closure>, Refusal> {
        let wanted = request.value.read()?;
        let closure = closures::create(&caller, &wanted).await?;
        Ok(Accepted::at(
            format!("{PREFIX}/closures/{}", closure.id),
            closure,
        ))
    }

    /// Read a closure
    ///
    /// Shows how far it has got, and its exports and erasures.
    #[oai(
        path = "/closures/:closure_id",
        method = "get",
        operation_id = "getClosure"
    )]
    async fn get_closure(
        &self,
        caller: Caller,
        /// The closure.
        closure_id: Path<ClosureId>,
    ) -> Result<Json<Closure>, Refusal> {
        let closure = closures::get(&caller, closure_id.0).await?;
        Ok(Json(closure.into()))
    }

    /// Cancel a closure
    ///
    /// Possible while its state is `grace`. Exactly the sites that it has disabled are open again, and its exports end. A
    /// closure that was cancelled before stays as it is.
    #[oai(
        path = "/closures/:closure_id/cancel",
        method = "post",
        operation_id = "cancelClosure"
    )]
    async fn cancel_closure(
        &self,
        caller: Caller,
        /// The closure.
        closure_id: Path<ClosureId>,
    ) -> Result<Json<Closure>, Refusal> {
        let closure = closures::cancel(&caller, closure_id.0).await?;
        Ok(Json(closure.into()))
    }

    /// Continue a closure that failed
    ///
    /// It goes on where it was. A closure that has not failed stays as it is.
    #[oai(
        path = "/closures/:closure_id/resume",
        method = "post",
        operation_id = "resumeClosure"
    )]
    async fn resume_closure(
        &self,
        caller: Caller,
        /// The closure.
        closure_id: Path<ClosureId>,
    ) -> Result<Json<Closure>, Refusal> {
        let closure = closures::resume(&caller, closure_id.0).await?;
        Ok(Json(closure.into()))
    }
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let closure = json!({
        "id": example_values::CLOSURE,
        "team_id": example_values::TEAM,
        "site_id": example_values::SITE,
        "name": "Comments",
        "state": "grace",
        "erase_at": "2026-03-02T12:00:00.123456Z",
        "waits_for": null,
        "sites": [{
            "site_id": example_values::SITE,
            "name": "Comments",
            "export_id": example_values::EXPORT,
            "erasure_id": null,
        }],
        "error": null,
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
        "ended_at": null,
    });
    vec![
        Operation::new("listClosures", Scope::ClosuresRead).answer(example_values::list(&closure)),
        Operation::new("createClosure", Scope::ClosuresWrite)
            .problems(&[Code::Closing, Code::LegalHold, Code::LimitReached])
            .request(
                json!({ "site_id": example_values::SITE, "name": "Comments", "grace_days": 30 }),
            )
            .answer(closure.clone()),
        Operation::new("getClosure", Scope::ClosuresRead).answer(closure.clone()),
        Operation::new("cancelClosure", Scope::ClosuresWrite)
            .problems(&[Code::Closing])
            .answer(closure.clone()),
        Operation::new("resumeClosure", Scope::ClosuresWrite).answer(closure),
    ]
}

/// What to close. Give exactly one of `site_id` and `team_id`.
#[derive(Deserialize, Schema)]
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
    fn read(self) -> Result<Wanted, Refused> {
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
            grace: or(self.grace_days, GRACE),
        })
    }
}

/// A closure of a site or a team, and how far it has got.
#[derive(Serialize, Schema)]
pub(crate) struct Closure {
    /// The closure.
    id: Uuid,
    /// Its team.
    team_id: Uuid,
    /// The site that it closes. `null` means the team with all its sites.
    #[schema(nullable)]
    site_id: Option<Uuid>,
    /// The name of the site or the team. A site that has been erased is called `closed` and its id.
    name: String,
    /// How far it is.
    state: Field<ClosureState>,
    /// When the grace ends. Until then, the closure can be cancelled, and its exports can be read.
    erase_at: Field<Time>,
    /// What it waits for, beside the end of the grace and its own erasures. `null` if for nothing else.
    #[schema(nullable)]
    waits_for: Option<Field<WaitsFor>>,
    /// The sites that it closes, at most 1,000 of them. Empty if it was cancelled.
    sites: Vec<ClosedSite>,
    /// Why it failed. `null` if it did not.
    #[schema(nullable)]
    error: Option<String>,
    /// The person or token that asked for it. `null` for the command line.
    #[schema(nullable)]
    created_by: Option<Uuid>,
    /// When it was asked for.
    created_at: Field<Time>,
    /// When it ended. `null` while it runs.
    #[schema(nullable)]
    ended_at: Option<Field<Time>>,
}

/// A site that a closure closes.
#[derive(Serialize, Schema)]
struct ClosedSite {
    /// The site.
    site_id: Uuid,
    /// Its name. A site that has been erased is called `closed` and its id.
    name: String,
    /// Its export.
    export_id: Uuid,
    /// Its erasure, which ends with a certificate. `null` before it began.
    #[schema(nullable)]
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
