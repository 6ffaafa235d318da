//! Reviews: what waits for people on the desk, who looks at it, and what they say.
//!
//! A review is opened by a trigger when an item gets the status `pending_review`, and ended by one
//! when the item leaves it, so older binaries feed the desk, too. In between, one person at a time
//! *leases* it ([`claim`]). What the person says is *held* ([`say`]): until the time to undo it is
//! over, only the desk knows it. Then a job tells it ([`Ended`]).

pub mod appeal;
mod claim;
pub mod exposure;
pub mod golden;
mod lease;
mod note;
mod opinion;
pub mod quality;
mod undo_expired;
mod view;
mod waiting;

pub(crate) use self::opinion::hold;
pub use self::{
    claim::{Claimed, NewClaim, claim},
    lease::{Locked, escalate, lock, renew, skip},
    note::{NewNote, Note, add as add_note, of_media as notes_of},
    opinion::{
        Held, NewOpinion, UsedPolicy, has_decided, has_spoken, policy, say, undo, undo_seconds,
    },
    undo_expired::{Ended, ReviewDied, held_for},
    view::{AuthorHistory, Earlier, Review, view},
    waiting::{Waiting, waiting},
};
