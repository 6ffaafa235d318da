//! The people and the hash lists that pages about rules name.

use std::collections::HashMap;

use domain::id::{ActorId, HashListId};
use management::{
    Caller,
    hash_lists::{self, VisibleHashList},
    people,
    rule_groups::Page,
};
use uuid::Uuid;

use crate::page::{PageError, pager};

/// People and lists that are known by name. Other lists are shown by their ids.
const NAMED: Page = pager::first(200);

/// The names of the people of the team.
pub(super) struct People(HashMap<Uuid, String>);

impl People {
    pub(super) async fn of(caller: &Caller) -> Result<Self, PageError> {
        let people = people::list(caller, NAMED).await?;
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

/// The team's hash lists and the shared ones.
#[derive(Default)]
pub(super) struct Lists(pub(super) Vec<VisibleHashList>);

impl Lists {
    pub(super) async fn of(caller: &Caller) -> Result<Self, PageError> {
        let lists = hash_lists::list(caller, NAMED).await?;
        Ok(Self(lists))
    }

    pub(super) fn name(&self, list: HashListId) -> String {
        let found = self.0.iter().find(|known| known.id == list);
        found.map_or_else(|| list.to_string(), |known| known.name.clone())
    }
}
