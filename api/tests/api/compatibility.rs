//! Within v1 changes are additive only: the document of today, compared with the released one.
//!
//! Two questions are asked of everything in it. Is anything gone? And does the receiver take whatever the sender may
//! send? Of a request, an old client is the sender and the new service the receiver; of an answer or an event it is the
//! other way round. So an `enum` in an answer is closed for good: a set that may grow is a plain string, whose
//! description says so. Members, error statuses, operations and events may be added, since clients ignore what they do
//! not know.

mod mutations;
mod operations;
mod schemas;

use std::collections::BTreeSet;

use serde_json::Value;

/// What breaks clients that were written against `old`: a line each, none if nothing does.
fn breaks(old: &Value, new: &Value) -> Vec<String> {
    let mut comparison = Comparison {
        old,
        new,
        compared: BTreeSet::new(),
        found: Vec::new(),
    };
    comparison.documents();
    comparison.found
}

struct Comparison<'a> {
    old: &'a Value,
    new: &'a Value,
    /// Named schemas that were looked at.
    compared: BTreeSet<(String, String, Way)>,
    found: Vec<String>,
}

/// Which way a value travels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    ToService,
    ToClient,
}

impl Way {
    fn back(self) -> Self {
        match self {
            Self::ToService => Self::ToClient,
            Self::ToClient => Self::ToService,
        }
    }

    /// The sender's and the receiver's of two.
    fn ends<T>(self, old: T, new: T) -> (T, T) {
        match self {
            Self::ToService => (old, new),
            Self::ToClient => (new, old),
        }
    }
}

impl Comparison<'_> {
    fn found(&mut self, at: &str, what: &str) {
        self.found.push(format!("{at}: {what}"));
    }

    fn changed(&mut self, at: &str, keyword: &str, old: &Value, new: &Value) {
        self.found(at, &format!("{keyword} is {new}, was {old}"));
    }

    /// Tells which of these members differ.
    fn same(&mut self, at: &str, old: &Value, new: &Value, members: &[&str]) {
        for member in members {
            if old[member] != new[member] {
                self.changed(at, member, &old[member], &new[member]);
            }
        }
    }

    /// The members that both objects have; tells which are gone.
    fn kept<'v>(
        &mut self,
        at: &str,
        old: &'v Value,
        new: &'v Value,
    ) -> Vec<(&'v str, &'v Value, &'v Value)> {
        let mut both = Vec::new();
        for (name, old) in members(old) {
            match new.get(name) {
                Some(new) => both.push((name, old, new)),
                None => self.found(at, &format!("{name} is gone")),
            }
        }
        both
    }

    /// The names of what is required on either side: the sender has to send what the receiver requires.
    fn requirements<T: Ord + AsRef<str>>(
        &mut self,
        at: &str,
        way: Way,
        old: &BTreeSet<T>,
        new: &BTreeSet<T>,
    ) {
        let (sender, receiver) = way.ends(old, new);
        for name in receiver.difference(sender) {
            let name = name.as_ref();
            self.found(
                at,
                &match way {
                    Way::ToService => format!("{name} is now required"),
                    Way::ToClient => format!("{name} is no longer always there"),
                },
            );
        }
    }
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, value)| (name.as_str(), value))
}

/// What a reference leads to; everything else is itself.
fn resolve<'v>(document: &'v Value, value: &'v Value) -> &'v Value {
    match value["$ref"].as_str() {
        Some(reference) => document
            .pointer(reference.trim_start_matches('#'))
            .unwrap_or_else(|| panic!("the document has no {reference}")),
        None => value,
    }
}

fn released() -> Value {
    serde_json::from_str(include_str!("../../../openapi/released/1.0.0.json")).unwrap()
}

/// What 1.0.0 said in words only and the document says as sets today. The service never sent anything else, so no client
/// has to read more than before. They are told of because a set in an answer is closed for good.
const SETS_SAID_SINCE: [&str; 5] = [
    // Sent only to a client whose request has `Prefer: wait`, which 1.0.0 did not know.
    r#"Accepted.status: enum is ["pending","approved","rejected","pending_review","completed"], was ["pending"]"#,
    r#"MediaCreatedEvent.event: enum is ["media.created"], was null"#,
    r#"MediaModeratedEvent.event: enum is ["media.moderated"], was null"#,
    r#"MediaStatus.action: enum is ["approve","block","review",null], was null"#,
    r#"MediaStatus.moderation_type: enum is ["ai","manual","rule",null], was null"#,
];

#[test]
fn clients_of_the_released_interface_can_live_with_todays() {
    let today = serde_json::from_str(&api::openapi_documents::public()).unwrap();
    assert_eq!(breaks(&released(), &today), SETS_SAID_SINCE);
}
