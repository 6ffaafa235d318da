//! Who made versions and backtests, by name.

use std::collections::HashMap;

use domain::id::ActorId;
use management::{Caller, people, rule_groups::Page};
use uuid::Uuid;

use crate::page::{PageError, PageRequest, pager};

/// People who are known by name.
const MOST: i64 = 200;

/// The names of the people of the team.
pub(super) struct People(HashMap<Uuid, String>);

impl People {
    /// The people.
    pub(super) async fn of(request: &PageRequest, caller: &Caller) -> Result<Self, PageError> {
        let page = pager::first(MOST);
        let people = people::list(&request.management, caller, page).await?;
        let names = people.into_iter();
        Ok(Self(
            names
                .map(|person| (person.id.as_uuid(), person.name))
                .collect(),
        ))
    }

    /// Who did something.
    pub(super) fn name(&self, actor: Option<ActorId>) -> String {
        let Some(actor) = actor else {
            return "the command line".to_owned();
        };
        let name = self.0.get(&actor.as_uuid()).cloned();
        name.unwrap_or_else(|| "a token, or somebody who left".to_owned())
    }
}
