//! Scopes as a table of boxes to tick: a row for each noun, reading apart from changing.

use domain::{role::Role, scope::Scope};

/// A row of the table.
pub(super) struct Noun {
    /// What the scopes are about, such as `hash lists`.
    pub(super) name: String,
    /// The scopes that only read.
    pub(super) reads: Vec<Tick>,
    /// The others.
    pub(super) changes: Vec<Tick>,
}

pub(super) struct Tick {
    pub(super) scope: Scope,
    /// The second half of its name, such as `write`.
    pub(super) verb: &'static str,
    pub(super) is_ticked: bool,
}

/// The table of these scopes, in the order in which scopes are declared.
pub(super) fn table(offered: &[Scope], ticked: &[Scope]) -> Vec<Noun> {
    let mut nouns: Vec<Noun> = Vec::new();
    for scope in Scope::ALL.iter().filter(|scope| offered.contains(scope)) {
        let (name, verb) = scope
            .as_str()
            .split_once(':')
            .unwrap_or((scope.as_str(), ""));
        let name = name.replace('_', " ");
        if nouns.last().is_none_or(|noun| noun.name != name) {
            nouns.push(Noun {
                name,
                reads: Vec::new(),
                changes: Vec::new(),
            });
        }
        let tick = Tick {
            scope: *scope,
            verb,
            is_ticked: ticked.contains(scope),
        };
        if let Some(noun) = nouns.last_mut() {
            match verb {
                "read" => noun.reads.push(tick),
                _ => noun.changes.push(tick),
            }
        }
    }
    nouns
}

/// The roles whose scopes a person with these scopes can give to a token.
pub(super) fn presets(own: &[Scope]) -> Vec<Role> {
    let roles = Role::ALL.iter().copied();
    roles
        // A lead has the scopes of a moderator.
        .filter(|role| *role != Role::Lead && role.beyond(own).is_none())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scope_is_offered_once_in_the_row_of_its_noun() {
        let nouns = table(Scope::ALL, &[Scope::MediaDecide]);
        let offered: Vec<Scope> = nouns
            .iter()
            .flat_map(|noun| noun.reads.iter().chain(&noun.changes))
            .map(|tick| tick.scope)
            .collect();
        assert_eq!(offered.len(), Scope::ALL.len());
        let media = nouns.iter().find(|noun| noun.name == "media").unwrap();
        assert_eq!(media.reads[0].scope, Scope::MediaRead);
        assert!(!media.reads[0].is_ticked && media.changes[0].is_ticked);
        let mut names: Vec<&str> = nouns.iter().map(|noun| noun.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), nouns.len(), "a noun has one row");
    }
}
