//! People: list, read, change, disable; links to a new password; a team's rules for signing in.

mod invitations;
mod own_account;
mod sessions;
mod sign_in_rules;

use api_common::{
    Code, Field, Json, JsonBody, NoContent, Path, Query, Refusal, Schema, Time, given, or,
};
use domain::{
    id::{MemberId, SiteId, TeamId},
    role::Role,
    scope::Scope,
};
use management::people::{self, Standing, password_resets};
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::person::{self, one_time_link};
use uuid::Uuid;

use super::{After, Caller, Limit, List, Operation, Part, Tag, example_values};

/// The operations about people, in the order of the document.
pub(super) type Nouns = (
    People,
    invitations::Invitations,
    sessions::Sessions,
    sign_in_rules::SignIn,
    own_account::Me,
);

/// Somebody in a team, or an operator.
#[derive(Serialize, Schema)]
pub(super) struct Person {
    /// The person's membership in this team. The audit log names it as the actor of what the person does.
    id: Uuid,
    /// The team; null for an operator.
    #[schema(nullable)]
    team_id: Option<Uuid>,
    /// The e-mail address, by which the person signs in.
    email: String,
    /// The person's name.
    name: String,
    /// What the person may do: `viewer`, `moderator`, `lead`, `admin`, `owner` or `operator`. More roles may be added.
    role: String,
    /// The sites on which a moderator decides. Null means all sites.
    #[schema(nullable)]
    site_ids: Option<Vec<Uuid>>,
    /// Whether the person has set up a second factor.
    has_factor: bool,
    /// When the person joined.
    created_at: Field<Time>,
    /// When the person was disabled; null if the person is not.
    #[schema(nullable)]
    disabled_at: Option<Field<Time>>,
}

impl From<person::Person> for Person {
    fn from(person: person::Person) -> Self {
        Self {
            id: person.id.as_uuid(),
            team_id: person.team.map(TeamId::as_uuid),
            email: person.email,
            name: person.name,
            role: person.role.to_string(),
            site_ids: person.sites.map(uuids),
            has_factor: person.has_factor,
            created_at: person.created_at.into(),
            disabled_at: person.disabled_at.map(Field::from),
        }
    }
}

/// Fields to change. Omitted fields keep their value.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(super) struct PersonChange {
    /// The role that the person gets.
    #[serde(default, deserialize_with = "given")]
    role: Option<Field<Role>>,
    /// The sites on which a moderator decides from now on. Null means all sites, and is the only value for other roles.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable, min_items = 1, max_items = 1000)]
    #[expect(clippy::option_option, reason = "absent and null are two things")]
    site_ids: Option<Option<Vec<Field<SiteId>>>>,
}

impl PersonChange {
    fn applied_to(self, standing: Standing) -> Standing {
        let role = or(self.role, standing.role);
        Standing {
            role,
            // A role that is not limited to sites forgets them.
            sites: match self.site_ids {
                Some(sites) => sites.map(ids),
                None => standing.sites.filter(|_| role.has_sites()),
            },
        }
    }
}

/// A link with which a person sets a new password.
#[derive(Serialize, Schema)]
pub(super) struct PasswordReset {
    /// The secret of the link. It is shown here and never again. Hand it to the person.
    secret: String,
    /// Until when it can be used.
    expires_at: Field<Time>,
}

impl From<one_time_link::Issued> for PasswordReset {
    fn from(issued: one_time_link::Issued) -> Self {
        Self {
            secret: issued.secret.expose().to_owned(),
            expires_at: issued.expires_at.into(),
        }
    }
}

fn uuids(sites: Vec<SiteId>) -> Vec<Uuid> {
    sites.into_iter().map(SiteId::as_uuid).collect()
}

fn ids(sites: Vec<Field<SiteId>>) -> Vec<SiteId> {
    sites.into_iter().map(|site| site.0).collect()
}

#[derive(Default)]
pub(crate) struct People;

#[OpenApi(tag = "Tag::People")]
impl People {
    /// List people
    ///
    /// Those who joined first come first. Disabled people are included. A team's token sees the people of its team.
    #[oai(path = "/people", method = "get", operation_id = "listPeople")]
    async fn list_people(
        &self,
        caller: Caller,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<Person>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let people = people::list(&caller, part.page()).await?;
        Ok(Json(part.list(people, |person| person.id.as_uuid())))
    }

    /// Read a person
    #[oai(
        path = "/people/:person_id",
        method = "get",
        operation_id = "getPerson"
    )]
    async fn get_person(
        &self,
        caller: Caller,
        /// The person.
        person_id: Path<MemberId>,
    ) -> Result<Json<Person>, Refusal> {
        let person = people::get(&caller, person_id.0).await?;
        Ok(Json(person.into()))
    }

    /// Change a person's role
    ///
    /// The change takes effect at once, in open sessions, too. The token must have every scope of the role that the person
    /// has and of the role that the person gets. The last owner of a team stays its owner.
    #[oai(
        path = "/people/:person_id",
        method = "patch",
        operation_id = "updatePerson"
    )]
    async fn update_person(
        &self,
        caller: Caller,
        /// The person.
        person_id: Path<MemberId>,
        request: JsonBody<PersonChange>,
    ) -> Result<Json<Person>, Refusal> {
        let edit = |standing| request.value.applied_to(standing);
        let person = people::update(&caller, person_id.0, edit).await?;
        Ok(Json(person.into()))
    }

    /// Disable a person
    ///
    /// The person can no longer act in the team, at once. Open links that the person has made stop working. The person stays in
    /// lists, and can return by another invitation. The last owner of a team cannot be disabled. Disabling somebody
    /// again changes nothing.
    #[oai(
        path = "/people/:person_id",
        method = "delete",
        operation_id = "disablePerson"
    )]
    async fn disable_person(
        &self,
        caller: Caller,
        /// The person.
        person_id: Path<MemberId>,
    ) -> Result<NoContent, Refusal> {
        people::disable(&caller, person_id.0).await?;
        Ok(NoContent)
    }

    /// Create a link to a new password
    ///
    /// The person sets a new password with it, once, within 24 hours. Earlier links of the same person stop working. The second
    /// factor stays and is asked for at the next sign-in. The token must have every scope of the person's role.
    /// For a person who is in other teams, too, only an operator can create the link.
    #[oai(
        path = "/people/:person_id/password-reset",
        method = "post",
        operation_id = "createPasswordReset"
    )]
    async fn create_password_reset(
        &self,
        caller: Caller,
        /// The person.
        person_id: Path<MemberId>,
    ) -> Result<Json<PasswordReset>, Refusal> {
        let issued = password_resets::create(&caller, person_id.0).await?;
        Ok(Json(issued.into()))
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    let person = json!({
        "id": example_values::PERSON,
        "team_id": example_values::TEAM,
        "email": "ada@example.com",
        "name": "Ada Lovelace",
        "role": "moderator",
        "site_ids": [example_values::SITE],
        "has_factor": true,
        "created_at": example_values::CREATED_AT,
        "disabled_at": null,
    });
    let own = vec![
        Operation::new("listPeople", Scope::PeopleRead).answer(example_values::list(&person)),
        Operation::new("getPerson", Scope::PeopleRead).answer(person.clone()),
        Operation::new("updatePerson", Scope::PeopleWrite)
            .problems(&[Code::LastOwner])
            .request(json!({ "role": "moderator", "site_ids": [example_values::SITE] }))
            .answer(person),
        Operation::new("disablePerson", Scope::PeopleWrite).problems(&[Code::LastOwner]),
        Operation::new("createPasswordReset", Scope::PeopleWrite)
            .problems(&[Code::InOtherTeams])
            .answer(json!({
                "secret": "link_EXAMPLEexampleEXAMPLEexamplev7Qx",
                "expires_at": "2026-02-01T12:00:00.123456Z",
            })),
    ];
    [
        own,
        invitations::descriptions(),
        sessions::descriptions(),
        sign_in_rules::descriptions(),
        own_account::descriptions(),
    ]
    .concat()
}
