//! Which verdict may follow which: the machine's verdict comes first, and people may change it
//! later.

use super::{Status, named_set};
use crate::bounded_integer::BoundedInteger;

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

/// What a person saw when deciding. Fields that are `None` are not compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The item's status.
    pub status: Option<Status>,
    /// The number of the verdict in force. A status can come back, a number never does.
    pub verdict: Option<VerdictNumber>,
}

/// The number of a verdict. An item's verdicts count from 1.
pub type VerdictNumber = BoundedInteger<1, { i16::MAX as i64 }>;

/// Why a person cannot decide this now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRuling {
    /// The machine's verdict comes first.
    #[error("the item is still pending")]
    StillPending,
    /// The item is not in the state that the person saw.
    #[error("the item has changed in the meantime")]
    Changed,
    /// The verdict in force is not the one that the person saw.
    #[error("the item has the verdict {} by now: it is {}", .0.verdicts, .0.status)]
    VerdictChanged(Standing),
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

    /// A person's verdict, if the item still is as the person saw it.
    pub fn ruled(self, ruling: Ruling, seen: Seen) -> Result<Step, NoRuling> {
        let to = ruling.status();
        match self.status {
            Status::Pending => Err(NoRuling::StillPending),
            _ if seen
                .verdict
                .is_some_and(|seen| seen.get() != i64::from(self.verdicts)) =>
            {
                Err(NoRuling::VerdictChanged(self))
            }
            now if seen.status.is_some_and(|status| status != now) => Err(NoRuling::Changed),
            now if now == to => Err(NoRuling::AlreadyDecided(now)),
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
