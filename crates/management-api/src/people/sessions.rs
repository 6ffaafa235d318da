//! Sessions of people: list, end.

use api_common::{Field, Json, NoContent, Path, Query, Refusal, Schema, Time};
use domain::{
    id::{MemberId, SessionId, TeamId},
    scope::Scope,
};
use management::people::sessions;
use poem_openapi::OpenApi;
use serde::Serialize;
use serde_json::json;
use store::person::session::Listed;
use uuid::Uuid;

use super::super::Tag;
use crate::{After, Caller, Limit, List, Operation, Part, example_values};

/// A person who is signed in on one browser.
#[derive(Serialize, Schema)]
pub(super) struct PersonSession {
    /// The session.
    id: Uuid,
    /// The person.
    #[schema(nullable)]
    person_id: Option<Uuid>,
    /// The person's team; null for an operator.
    #[schema(nullable)]
    team_id: Option<Uuid>,
    /// When the person signed in. A session ends 12 hours later at the latest.
    created_at: Field<Time>,
    /// When the session was used last, to the minute. It ends when it is not used for 30 minutes.
    used_at: Field<Time>,
    /// The address from which the person signed in.
    address: String,
    /// The browser, as it names itself.
    user_agent: String,
}

impl From<Listed> for PersonSession {
    fn from(session: Listed) -> Self {
        Self {
            id: session.id.as_uuid(),
            person_id: session.member.map(MemberId::as_uuid),
            team_id: session.team.map(TeamId::as_uuid),
            created_at: session.created_at.into(),
            used_at: session.used_at.into(),
            address: session.address,
            user_agent: session.user_agent,
        }
    }
}

#[derive(Default)]
pub(crate) struct Sessions;

#[OpenApi(tag = "Tag::People")]
impl Sessions {
    /// List sessions
    ///
    /// The people who are signed in, the oldest session first. A team's token sees the sessions of people who are in no other team.
    #[oai(path = "/sessions", method = "get", operation_id = "listSessions")]
    async fn list_sessions(
        &self,
        caller: Caller,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<PersonSession>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let listed = sessions::list(&caller, part.page()).await?;
        Ok(Json(part.list(listed, |session| session.id.as_uuid())))
    }

    /// End a session
    ///
    /// At once. The person can sign in again: disable the person to prevent that. The token must have every scope of the
    /// person's role.
    #[oai(
        path = "/sessions/:session_id",
        method = "delete",
        operation_id = "endSession"
    )]
    async fn end_session(
        &self,
        caller: Caller,
        /// The session.
        session_id: Path<SessionId>,
    ) -> Result<NoContent, Refusal> {
        sessions::end(&caller, session_id.0).await?;
        Ok(NoContent)
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    let session = json!({
        "id": "01980f6d-43aa-7bbb-8ccc-0123456789ab",
        "person_id": example_values::PERSON,
        "team_id": example_values::TEAM,
        "created_at": example_values::CREATED_AT,
        "used_at": example_values::CREATED_AT,
        "address": "192.0.2.1",
        "user_agent": "Mozilla/5.0",
    });
    vec![
        Operation::new("listSessions", Scope::PeopleRead).answer(example_values::list(&session)),
        Operation::new("endSession", Scope::PeopleWrite),
    ]
}
