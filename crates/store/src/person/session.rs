//! Sessions: people who have signed in, on one browser each.
//!
//! Like a token, a session is looked up in the transaction of each request, together with its
//! membership. So ending it, disabling the person and changing the role take effect at once.

mod begin;
mod create;
mod end;
mod list;
mod reauthentication;

pub use self::{
    begin::{Entered, Held, begin_changing, begin_own, begin_reading, touch},
    create::{Origin, Proved, create, create_by_provider},
    end::{end, end_all},
    list::{Listed, last_used, list, of_user},
    reauthentication::{count_wrong_code, lower_all, note_password, raise},
};

use chrono::TimeDelta;

pub(super) fn seconds(time: TimeDelta) -> f64 {
    time.as_seconds_f64()
}
