//! What exactly was done: the changed members before and after, or the members of something new. Teams write what is in
//! them, so the number and the length of what is shown are limited.

use serde_json::{Map, Value};

/// Members of an entry that are shown.
const MOST_MEMBERS: usize = 40;
/// Characters of a value that are shown.
const LONGEST_VALUE: usize = 1_000;
/// Characters of all values of an entry that are shown.
const LONGEST: usize = 8_000;
/// Characters of a member's name that are shown.
const LONGEST_NAME: usize = 100;
/// A value with more characters is folded.
const SHORT: usize = 120;

pub(super) struct Details {
    /// Whether there is a value before and one after.
    pub(super) is_change: bool,
    pub(super) members: Vec<Member>,
    /// How many members are not shown.
    pub(super) left_out: usize,
    /// From where, if the entry says so.
    pub(super) address: Option<String>,
}

/// A member and its values. The first one is none where nothing was before.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) before: Option<Shown>,
    pub(super) after: Shown,
}

pub(super) struct Shown {
    /// The value or its beginning.
    pub(super) text: String,
    /// The beginning, if the text is folded.
    pub(super) short: Option<String>,
    /// Characters that are not shown.
    pub(super) cut: usize,
}

/// Reads the details of an entry. What is no object has no members.
pub(super) fn of(details: &str) -> Details {
    let object = match serde_json::from_str(details) {
        Ok(Value::Object(object)) => object,
        Ok(_) | Err(_) => Map::new(),
    };
    let address = object.get("address").and_then(Value::as_str);
    let address = address.map(|address| cut(address, LONGEST_NAME).text);
    let mut room = LONGEST;
    if let Some(Value::Object(changed)) = object.get("changed") {
        let members = changed.iter().map(|(name, values)| {
            let value = |side| values.get(side).unwrap_or(&Value::Null);
            (name, Some(value("from")), value("to"))
        });
        return limited(members, &mut room, changed.len(), true, address);
    }
    let members = match object.get("created") {
        Some(Value::Object(created)) => {
            let besides = object.iter().filter(|(name, _)| *name != "created");
            created.iter().chain(besides).collect()
        }
        Some(_) | None => object.iter().collect::<Vec<_>>(),
    };
    let count = members.len();
    let members = members.into_iter().map(|(name, value)| (name, None, value));
    limited(members, &mut room, count, false, address)
}

fn limited<'a>(
    members: impl Iterator<Item = (&'a String, Option<&'a Value>, &'a Value)>,
    room: &mut usize,
    count: usize,
    is_change: bool,
    address: Option<String>,
) -> Details {
    let mut shown = Vec::new();
    for (name, before, after) in members.take(MOST_MEMBERS) {
        if *room == 0 {
            break;
        }
        shown.push(Member {
            name: cut(name, LONGEST_NAME).text,
            before: before.map(|value| text(value, room)),
            after: text(after, room),
        });
    }
    Details {
        is_change,
        left_out: count - shown.len(),
        members: shown,
        address,
    }
}

fn text(value: &Value, room: &mut usize) -> Shown {
    let whole = match value {
        Value::Null => "none".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    };
    let text = cut(&whole, LONGEST_VALUE.min(*room));
    *room -= text.text.chars().count();
    text
}

fn cut(whole: &str, longest: usize) -> Shown {
    let length = whole.chars().count();
    let first = |most: usize| whole.chars().take(most).collect::<String>();
    Shown {
        text: first(longest),
        short: (length > SHORT).then(|| first(SHORT.min(longest))),
        cut: length.saturating_sub(longest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_both_sides_and_new_things_one() {
        let change =
            of(r#"{"changed":{"name":{"from":"a","to":null},"on":{"from":true,"to":false}}}"#);
        assert!(change.is_change);
        let sides: Vec<(String, String, String)> = change
            .members
            .into_iter()
            .map(|one| (one.name, one.before.unwrap().text, one.after.text))
            .collect();
        let side = |name: &str, from: &str, to: &str| (name.into(), from.into(), to.into());
        assert_eq!(sides, [side("name", "a", "none"), side("on", "yes", "no")]);

        let new = of(r#"{"created":{"id":1,"sites":["x"]},"plan_id":"p"}"#);
        assert!(!new.is_change && new.members.iter().all(|one| one.before.is_none()));
        let names: Vec<&str> = new.members.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["id", "sites", "plan_id"]);

        let signed_in = of(r#"{"address":"192.0.2.7"}"#);
        assert_eq!(signed_in.address.as_deref(), Some("192.0.2.7"));
    }

    #[test]
    fn however_much_a_team_writes_little_is_shown() {
        let long = "é".repeat(3_000);
        let members: Map<String, Value> = (0..60)
            .map(|number| (format!("{number}{long}"), Value::from(long.as_str())))
            .collect();
        for details in [
            serde_json::json!({ "created": members }),
            serde_json::json!({ "changed": { "name": { "from": members, "to": members } } }),
            serde_json::json!({ "address": long, "reason": members }),
        ] {
            let shown = of(&details.to_string());
            let characters: usize = shown
                .members
                .iter()
                .map(|one| {
                    let before = one
                        .before
                        .as_ref()
                        .map_or(0, |text| text.text.chars().count());
                    one.name.chars().count() + before + one.after.text.chars().count()
                })
                .sum();
            assert!(
                characters <= LONGEST + MOST_MEMBERS * LONGEST_NAME,
                "{characters}"
            );
            let address = shown.address.unwrap_or_default();
            assert!(address.chars().count() <= LONGEST_NAME);
        }
        let many = of(&serde_json::json!({ "created": members }).to_string());
        assert_eq!(many.members.len() + many.left_out, 60);
        assert!(many.members[0].after.cut > 0);
    }

    #[test]
    fn what_cannot_be_read_has_no_members() {
        for details in ["", "null", "[1]", "{"] {
            assert!(of(details).members.is_empty(), "{details}");
        }
    }
}
