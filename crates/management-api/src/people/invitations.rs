//! Invitations: list, create, withdraw.

use api_common::{
    Code, Created, Field, Json, JsonBody, NoContent, Path, Query, Refusal, Schema, Time,
};
use domain::{
    email::Email,
    id::{LinkId, SiteId, TeamId},
    role::Role,
    scope::Scope,
};
use management::people::{
    Standing,
    invitations::{self, Wanted},
};
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::person::one_time_link;
use uuid::Uuid;

use super::{
    super::{PREFIX, Tag},
    ids, uuids,
};
use crate::{After, Caller, Limit, List, Operation, Part, example_values};

/// An open invitation.
#[derive(Serialize, Schema)]
pub(super) struct Invitation {
    /// The invitation.
    id: Uuid,
    /// The team that the person is invited into; null for an operator.
    #[schema(nullable)]
    team_id: Option<Uuid>,
    /// Who is invited.
    email: String,
    /// The role that the person gets: `viewer`, `moderator`, `lead`, `admin`, `owner` or `operator`. More roles may be added.
    role: String,
    /// The sites on which a moderator will decide. Null means all sites.
    #[schema(nullable)]
    site_ids: Option<Vec<Uuid>>,
    /// When it was created.
    created_at: Field<Time>,
    /// Until when it can be accepted.
    expires_at: Field<Time>,
}

impl From<one_time_link::Invitation> for Invitation {
    fn from(invitation: one_time_link::Invitation) -> Self {
        Self {
            id: invitation.id.as_uuid(),
            team_id: invitation.team.map(TeamId::as_uuid),
            email: invitation.email,
            role: invitation.role.to_string(),
            site_ids: invitation.sites.map(uuids),
            created_at: invitation.created_at.into(),
            expires_at: invitation.expires_at.into(),
        }
    }
}

/// A new invitation, with the secret of its link.
#[derive(Serialize, Schema)]
pub(super) struct IssuedInvitation {
    /// The secret of the link. It is shown here and never again. Hand it to the person.
    secret: String,
    /// The invitation.
    #[serde(flatten)]
    invitation: Invitation,
}

impl From<invitations::IssuedInvitation> for IssuedInvitation {
    fn from(issued: invitations::IssuedInvitation) -> Self {
        Self {
            secret: issued.secret.expose().to_owned(),
            invitation: issued.invitation.into(),
        }
    }
}

/// A person to be invited.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewInvitation {
    /// The team. If you omit it, it is the team of your token; an operator's token invites an operator.
    #[schema(nullable)]
    team_id: Option<Field<TeamId>>,
    /// The e-mail address of the person. Gatehouse sends no mail: hand the link over yourself.
    email: Field<Email>,
    /// The role that the person gets.
    role: Field<Role>,
    /// The sites on which a moderator decides. Null or omitted means all sites, and is the only value for other roles.
    #[schema(nullable, min_items = 1, max_items = 1000)]
    site_ids: Option<Vec<Field<SiteId>>>,
}

impl From<NewInvitation> for Wanted {
    fn from(new: NewInvitation) -> Self {
        Self {
            team: new.team_id.map(|team| team.0),
            email: new.email.0,
            standing: Standing {
                role: new.role.0,
                sites: new.site_ids.map(ids),
            },
        }
    }
}

#[derive(Default)]
pub(crate) struct Invitations;

#[OpenApi(tag = "Tag::People")]
impl Invitations {
    /// List invitations
    ///
    /// Those that can still be accepted, the oldest first. A team's token sees those of its team.
    #[oai(
        path = "/invitations",
        method = "get",
        operation_id = "listInvitations"
    )]
    async fn list_invitations(
        &self,
        caller: Caller,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<Invitation>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let open = invitations::list(&caller, part.page()).await?;
        Ok(Json(part.list(open, |invitation| invitation.id.as_uuid())))
    }

    /// Invite a person
    ///
    /// The answer shows the secret of a link, once. The person accepts the invitation with it within 3 days. An earlier
    /// invitation of the same address into the same team stops working. The token must have every scope of the role. An operator's
    /// token with `teams:write` can invite the first owner of a team in any case.
    #[oai(
        path = "/invitations",
        method = "post",
        operation_id = "createInvitation"
    )]
    async fn create_invitation(
        &self,
        caller: Caller,
        request: JsonBody<NewInvitation>,
    ) -> Result<Created<IssuedInvitation>, Refusal> {
        let issued = invitations::create(&caller, &request.value.into()).await?;
        let location = format!("{PREFIX}/invitations/{}", issued.invitation.id);
        Ok(Created::at(location, issued))
    }

    /// Read an invitation
    ///
    /// As long as it can be accepted.
    #[oai(
        path = "/invitations/:invitation_id",
        method = "get",
        operation_id = "getInvitation"
    )]
    async fn get_invitation(
        &self,
        caller: Caller,
        /// The invitation.
        invitation_id: Path<LinkId>,
    ) -> Result<Json<Invitation>, Refusal> {
        let invitation = invitations::get(&caller, invitation_id.0).await?;
        Ok(Json(invitation.into()))
    }

    /// Withdraw an invitation
    ///
    /// Its link stops working at once.
    #[oai(
        path = "/invitations/:invitation_id",
        method = "delete",
        operation_id = "cancelInvitation"
    )]
    async fn cancel_invitation(
        &self,
        caller: Caller,
        /// The invitation.
        invitation_id: Path<LinkId>,
    ) -> Result<NoContent, Refusal> {
        invitations::cancel(&caller, invitation_id.0).await?;
        Ok(NoContent)
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    let invitation = json!({
        "id": example_values::INVITATION,
        "team_id": example_values::TEAM,
        "email": "ada@example.com",
        "role": "moderator",
        "site_ids": [example_values::SITE],
        "created_at": example_values::CREATED_AT,
        "expires_at": "2026-02-03T12:00:00.123456Z",
    });
    let single = invitation.clone();
    let mut issued = json!({ "secret": "link_EXAMPLEexampleEXAMPLEexamplev7Qx" });
    api_common::openapi::extend(&mut issued, "", invitation.clone());
    vec![
        Operation::new("listInvitations", Scope::PeopleRead)
            .answer(example_values::list(&invitation)),
        Operation::new("createInvitation", Scope::PeopleWrite)
            .problems(&[Code::AlreadyMember, Code::LimitReached])
            .request(json!({
                "team_id": example_values::TEAM,
                "email": "ada@example.com",
                "role": "moderator",
                "site_ids": [example_values::SITE],
            }))
            .answer(issued),
        Operation::new("getInvitation", Scope::PeopleRead).answer(single),
        Operation::new("cancelInvitation", Scope::PeopleWrite),
    ]
}
