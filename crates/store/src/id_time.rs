//! What ids of version 7 tell about time: which ids belong to a span of time, and when an id was
//! made.

use chrono::{DateTime, Utc};
use uuid::Uuid;

/// How far the clocks of processes, which make ids, may differ from the clock of Postgres, which
/// dates acceptances, before lists by time miss items. Milliseconds.
const CLOCKS_APART: i64 = 5 * 60 * 1_000;

/// A range of ids that contains all items that were accepted at `since` or later and before
/// `until`, and some others: from the first id on, up to but not including the second.
pub(crate) fn ids_within(
    since: Option<DateTime<Utc>>,
    until: Option<DateTime<Utc>>,
) -> (Uuid, Uuid) {
    (
        first_id(since, -CLOCKS_APART).unwrap_or(Uuid::nil()),
        first_id(until, CLOCKS_APART).unwrap_or(Uuid::max()),
    )
}

/// The least id that can be made so many milliseconds after a time: ids begin with 48 bits of Unix
/// milliseconds.
fn first_id(time: Option<DateTime<Utc>>, shift_ms: i64) -> Option<Uuid> {
    let ms = time?.timestamp_millis().saturating_add(shift_ms);
    let ms = u128::try_from(ms.clamp(0, (1 << 48) - 1)).unwrap_or(0);
    Some(Uuid::from_u128(ms << 80))
}

/// The ids that begin with the same millisecond as this one: from the first id on, up to but not
/// including the second.
pub(crate) fn ids_of_its_millisecond(id: Uuid) -> (Uuid, Uuid) {
    let ms = id.as_u128() >> 80;
    let end = (ms + 1).checked_mul(1 << 80);
    (
        Uuid::from_u128(ms << 80),
        end.map_or(Uuid::max(), Uuid::from_u128),
    )
}

/// When the thing with this id was made, to the millisecond.
pub(crate) fn made_at(id: Uuid) -> Option<DateTime<Utc>> {
    let (seconds, nanos) = id.get_timestamp()?.to_unix();
    DateTime::from_timestamp(i64::try_from(seconds).ok()?, nanos)
}

/// The time that an id begins with, to the millisecond, also if it is only a bound of ids.
pub(crate) fn time_of(id: Uuid) -> DateTime<Utc> {
    let ms = i64::try_from(id.as_u128() >> 80).unwrap_or(i64::MAX);
    DateTime::from_timestamp_millis(ms).unwrap_or(DateTime::<Utc>::MAX_UTC)
}
