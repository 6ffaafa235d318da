//! Imports: the archive of an export is put into this database. Only the command line does it.
//!
//! Everything keeps its id, so whatever is there already is found again, and an import that was interrupted can be repeated.
//! Only what belongs to another team here gets another id, which follows from its own and the team's. Nothing of another team
//! or of another site is ever changed.

mod items;
mod rules;
mod site;

use std::collections::HashMap;

use domain::{
    audit::Action,
    id::{RuleGroupId, SiteId, TeamId},
    name::Name,
    scope::Scope,
};
use serde_json::Value;
pub use store::export::{ExportedGroup, ListedVersion};
use uuid::Uuid;

use crate::{Caller, Refused, boxed, record};

pub use self::{
    items::{Line, Stored, WrongLine, items},
    rules::{Placed, version},
    site::{GivenSite, site},
};

/// Where an archive goes.
#[derive(Debug)]
pub struct Target {
    /// The team.
    pub team: TeamId,
    /// The site.
    pub site: SiteId,
    /// The versions of the archive, and what they are here.
    pub versions: HashMap<Uuid, Uuid>,
}

/// The rule groups of an archive, and what they are here.
pub type Groups = HashMap<RuleGroupId, RuleGroupId>;

/// Refuses a team that does not exist, before anything is done.
///
/// # Errors
/// The caller may not do it; there is no such team.
#[boxed]
pub async fn require_team(caller: &Caller, team: TeamId) -> Result<(), Refused> {
    let mut session = caller.read(Scope::SitesWrite).await?;
    session.named_team(Some(team)).await?;
    Ok(())
}

/// Records that an archive was imported. The details say what came of it.
///
/// # Errors
/// The caller may not do it; the database failed.
#[boxed]
pub async fn finish(caller: &Caller, target: &Target, details: Value) -> Result<(), Refused> {
    let session = caller.change(Scope::SitesWrite).await?;
    let action = Action::SiteImport;
    record(session, action, target.team, target.site, details).await
}

/// Names for something that is called so elsewhere, the best one first.
fn names(name: &str) -> impl Iterator<Item = String> {
    let others = (1..100).map(|number| match number {
        1 => " (imported)".to_owned(),
        number => format!(" (imported {number})"),
    });
    let of = name.to_owned();
    std::iter::once(of.clone()).chain(others.map(move |suffix| {
        let room = Name::LONGEST - suffix.len();
        let kept: String = of.chars().take(room).collect();
        format!("{}{suffix}", kept.trim_end())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_says_that_it_was_imported() {
        let first: Vec<String> = names("Comments").take(3).collect();
        assert_eq!(
            first,
            ["Comments", "Comments (imported)", "Comments (imported 2)"]
        );
        for name in names(&"é".repeat(Name::LONGEST)) {
            assert!(name.parse::<Name>().is_ok(), "{name}");
        }
    }
}
