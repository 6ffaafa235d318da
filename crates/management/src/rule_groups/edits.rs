//! Changes of one rule of a draft: add, replace, move, switch on or off, remove.

use domain::{
    id::{RuleGroupId, RuleId},
    rules::{Rule, RuleBody},
    scope::Scope,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    drafts::{draft, put, require},
    find,
};
use crate::{Caller, Noun, Refused, boxed};

/// A change of one rule.
#[derive(Debug)]
pub enum Edit {
    /// Adds a rule after all others.
    Add(RuleBody),
    /// Gives a rule another content. It stays the same rule, in its place.
    Replace(RuleId, RuleBody),
    /// Moves a rule to this place, from 0; to the end, if there are fewer.
    Move(RuleId, usize),
    /// Switches a rule on or off.
    Switch(RuleId, bool),
    /// Removes a rule.
    Remove(RuleId),
}

/// Changes one rule of a group's draft, if it still has this revision. Mistakes in the rule are named by its members, such as
/// `pattern`; mistakes in other rules as those of [`super::drafts::replace`], such as `rules[3].lists[0]`.
///
/// # Errors
/// The caller may not do it; there is no such group within reach; the draft has another revision or no such rule; the rules do not
/// compile or name hash lists that the team cannot use.
#[boxed]
pub async fn edit(
    caller: &Caller,
    group: RuleGroupId,
    revision: i64,
    edit: Edit,
) -> Result<(), Refused> {
    let mut session = caller.read(Scope::RulesWrite).await?;
    let group = find(&mut session, group).await?;
    let draft = draft(&mut session, group.id).await?;
    require(Some(revision), draft.revision)?;
    session.end();
    let mut rules = draft.rules;
    let (place, details) = apply(&mut rules, edit).ok_or(Refused::NotFound(Noun::Rule))?;
    let done = put(caller, &group, rules, Some(revision), details).await;
    done.map(drop).map_err(|refused| seen_from(place, refused))
}

/// The place of the rule that was changed, and what the audit log says. None: there is no such rule.
fn apply(rules: &mut Vec<Rule>, edit: Edit) -> Option<(usize, Value)> {
    let place_of = |rules: &[Rule], id| rules.iter().position(|rule| rule.id == id);
    Some(match edit {
        Edit::Add(body) => {
            let rule = body.into_rule(Uuid::now_v7().into());
            let details = told(rule.id, "added");
            rules.push(rule);
            (rules.len() - 1, details)
        }
        Edit::Replace(id, body) => {
            let place = place_of(rules, id)?;
            rules[place] = body.into_rule(id);
            (place, told(id, "changed"))
        }
        Edit::Move(id, to) => {
            let rule = rules.remove(place_of(rules, id)?);
            let to = to.min(rules.len());
            rules.insert(to, rule);
            (to, told(id, "moved"))
        }
        Edit::Switch(id, enabled) => {
            let place = place_of(rules, id)?;
            rules[place].enabled = enabled;
            (place, told(id, "changed"))
        }
        Edit::Remove(id) => {
            let place = place_of(rules, id)?;
            rules.remove(place);
            // Nothing of the removed rule can be wrong any more.
            (usize::MAX, told(id, "removed"))
        }
    })
}

fn told(rule: RuleId, change: &str) -> Value {
    json!({ "rule": { "id": rule, "change": change } })
}

/// The same refusal with mistakes in the rule at this place named by its members.
fn seen_from(place: usize, refused: Refused) -> Refused {
    let Refused::Fields(mut fields) = refused else {
        return refused;
    };
    let own = format!("rules[{place}].");
    for problem in &mut fields.problems {
        if let Some(member) = problem.field.strip_prefix(&own) {
            problem.field = member.to_owned();
        }
    }
    Refused::Fields(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(ids: &[u128]) -> Vec<Rule> {
        let rule = |id: &u128| -> Rule {
            serde_json::from_value(json!({
                "id": Uuid::from_u128(*id), "name": "rule", "type": "keyword", "keywords": ["x"], "effect": "reject",
            }))
            .unwrap()
        };
        ids.iter().map(rule).collect()
    }

    fn id(id: u128) -> RuleId {
        Uuid::from_u128(id).into()
    }

    #[test]
    fn a_rule_is_moved_to_a_place_and_the_others_keep_their_order() {
        for (moved, to, expected) in [
            (1, 2, [2, 3, 1]),
            (3, 0, [3, 1, 2]),
            (1, 9, [2, 3, 1]),
            (2, 1, [1, 2, 3]),
        ] {
            let mut moving = rules(&[1, 2, 3]);
            apply(&mut moving, Edit::Move(id(moved), to)).unwrap();
            assert_eq!(moving, rules(&expected), "{moved} to {to}");
        }
    }

    #[test]
    fn a_rule_that_is_not_there_changes_nothing() {
        for edit in [
            Edit::Move(id(9), 0),
            Edit::Switch(id(9), false),
            Edit::Remove(id(9)),
        ] {
            let mut same = rules(&[1, 2]);
            assert!(apply(&mut same, edit).is_none());
            assert_eq!(same, rules(&[1, 2]));
        }
    }

    #[test]
    fn a_mistake_is_named_by_its_member_only_in_the_rule_that_was_changed() {
        let told = |place, field: &str| match seen_from(place, Refused::field(field, "is wrong")) {
            Refused::Fields(fields) => fields.problems[0].field.clone(),
            other => panic!("{other}"),
        };
        assert_eq!(told(1, "rules[1].keywords[3]"), "keywords[3]");
        assert_eq!(told(1, "rules[11].pattern"), "rules[11].pattern");
        assert_eq!(told(1, "rules"), "rules");
    }
}
