//! Which fields of a request are wrong.

use domain::{media::NoRuling, rules::RuleErrors, submission::Fault};

use super::{Refused, conflict::Conflict};

/// The members of a request that are wrong.
#[derive(Debug)]
pub struct Fields {
    /// The kind of the first mistake.
    pub fault: FieldFault,
    /// What is wrong, member by member.
    pub problems: Vec<FieldProblem>,
    /// How many are listed, if there are more.
    pub cut_at: Option<usize>,
}

/// The kind of a wrong member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldFault {
    /// Its value is not valid.
    Invalid,
    /// It names a rule group that the team does not have.
    UnknownRuleGroup,
    /// It is not allowed in a submission.
    Submission(Fault),
}

/// What is wrong with one member of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldProblem {
    /// The member's name or path, such as `rules[2].pattern`.
    pub field: String,
    /// What to do, for a developer. It continues a sentence that begins with the name: `must be
    /// ...`.
    pub message: String,
    /// The character of the member, from 0, at which the mistake is, if known.
    pub position: Option<usize>,
}

/// Rules are in the member `rules`.
impl From<&RuleErrors> for Refused {
    fn from(errors: &RuleErrors) -> Self {
        let problems = errors.iter().map(|error| FieldProblem {
            field: error.path(),
            message: match error.place {
                Some(place) => format!("{} ({place})", error.message),
                None => error.message.clone(),
            },
            position: error.position,
        });
        Self::Fields(Fields {
            fault: FieldFault::Invalid,
            problems: problems.collect(),
            cut_at: errors.has_more().then_some(RuleErrors::MOST),
        })
    }
}

impl From<NoRuling> for Refused {
    fn from(none: NoRuling) -> Self {
        match none {
            NoRuling::StillPending => Self::conflict(
                Conflict::StillPending,
                "The item is pending: people decide after the machine.",
            ),
            NoRuling::AlreadyDecided(status) => Self::conflict(
                Conflict::AlreadyDecided,
                format!("The item is {status} already."),
            ),
            NoRuling::Changed => Self::conflict(
                Conflict::MediaChanged,
                "Somebody else has decided about the item meanwhile: read it again.",
            ),
            NoRuling::VerdictChanged(now) => Self::conflict(
                Conflict::VerdictChanged,
                format!(
                    "The item's verdict has the number {} by now, and the item is {}: read it again.",
                    now.verdicts, now.status,
                ),
            ),
        }
    }
}
