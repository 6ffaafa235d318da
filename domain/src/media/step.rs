//! Which verdict may follow which: the machine's verdict comes first, and people may change it
//! later.

use super::{Status, named_set};

named_set! {
    /// What a person decides about an item.
    Ruling {
        /// It may be displayed.
        Approve = "approve",
        /// It may not.
        Reject = "reject",
    }
}

impl Ruling {
    /// The resulting status.
    pub const fn status(self) -> Status {
        match self {
            Self::Approve => Status::Approved,
            Self::Reject => Status::Rejected,
        }
    }
}

/// The state of an item: its status, and the number of its verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its status.
    pub status: Status,
    /// How many verdicts it has had. The last one is in force.
    pub verdicts: u16,
}

/// An item's next verdict, from one state to the next. It may be stored only while the item is
/// still in the first state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    from: Standing,
    to: Status,
}

/// Why a person cannot decide this now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRuling {
    /// The machine's verdict comes first.
    #[error("the item is still pending")]
    StillPending,
    /// The item is not in the state that the person saw.
    #[error("the item has changed in the meantime")]
    Changed,
    /// The item already has this status.
    #[error("the item is already {0}")]
    AlreadyDecided(Status),
}

impl Standing {
    /// An item that was just accepted.
    pub const ACCEPTED: Self = Self {
        status: Status::Pending,
        verdicts: 0,
    };

    /// A person's verdict. `expected` is the status that the person saw, if it is known.
    pub fn ruled(self, ruling: Ruling, expected: Option<Status>) -> Result<Step, NoRuling> {
        let to = ruling.status();
        match self.status {
            Status::Pending => Err(NoRuling::StillPending),
            seen if expected.is_some_and(|expected| expected != seen) => Err(NoRuling::Changed),
            seen if seen == to => Err(NoRuling::AlreadyDecided(seen)),
            Status::Approved | Status::Rejected | Status::PendingReview => {
                Ok(Step { from: self, to })
            }
        }
    }
}

impl Step {
    /// The machine's verdict on an accepted item. `to` is anything but `pending`.
    pub const fn judged(to: Status) -> Self {
        Self {
            from: Standing::ACCEPTED,
            to,
        }
    }

    /// The state in which the item must still be.
    pub const fn from(self) -> Standing {
        self.from
    }

    /// The status that it leads to.
    pub const fn to(self) -> Status {
        self.to
    }

    /// The number of the verdict; an item's verdicts count from 1.
    pub const fn number(self) -> u16 {
        self.from.verdicts.saturating_add(1)
    }
}

#[cfg(test)]
mod tests;
