//! Shares and changes as people read them.

use crate::number::grouped;

/// The whole, in hundredths of a percent.
pub(super) const WHOLE: u64 = 10_000;

/// How much of a whole a part is, in this many units. It is rounded down, so that less than all is never shown as all.
pub(super) fn part(part: i64, whole: i64, units: u64) -> u64 {
    let (part, whole) = (
        u128::from(part.unsigned_abs()),
        u128::from(whole.unsigned_abs()),
    );
    let share = part * u128::from(units) / whole.max(1);
    u64::try_from(share).unwrap_or(units).min(units)
}

/// A share in hundredths of a percent, as `99.98 %`.
pub(super) fn hundredths(share: u64) -> String {
    match (share / 100, share % 100) {
        (whole, 0) => format!("{whole} %"),
        (whole, rest) => format!("{whole}.{rest:02} %"),
    }
}

/// How much of a whole a part is, as `0.5 %`.
pub(super) fn tenths(count: i64, whole: i64) -> String {
    let share = part(count, whole, 1_000);
    match (share / 10, share % 10) {
        (0, 0) if count > 0 => "under 0.1 %".to_owned(),
        (whole, 0) => format!("{whole} %"),
        (whole, rest) => format!("{whole}.{rest} %"),
    }
}

/// How much a number has changed, as `+4 %`. There is no change from nothing.
pub(super) fn change(now: i64, before: i64) -> Option<String> {
    if before <= 0 {
        return None;
    }
    let (now, before) = (i128::from(now), i128::from(before));
    // Rounded to the nearest whole percent.
    let change = ((now - before) * 200 + before).div_euclid(before * 2);
    Some(signed(change, "%"))
}

/// How much a share has changed, both in hundredths of a percent, as `+0.2 points`.
pub(super) fn points(now: u64, before: u64) -> String {
    let change = i128::from(now) - i128::from(before);
    let size = change.unsigned_abs();
    let sign = if change < 0 { "−" } else { "+" };
    match size {
        0 => "no change".to_owned(),
        size => format!("{sign}{}.{:02} points", size / 100, size % 100),
    }
}

fn signed(change: i128, unit: &str) -> String {
    let size =
        i64::try_from(change.unsigned_abs()).map_or_else(|_| "very many".to_owned(), grouped);
    match change {
        0 => "no change".to_owned(),
        1.. => format!("+{size} {unit}"),
        _ => format!("−{size} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_all_is_never_all() {
        assert_eq!(hundredths(part(999_999, 1_000_000, WHOLE)), "99.99 %");
        assert_eq!(hundredths(part(5, 5, WHOLE)), "100 %");
        assert_eq!(hundredths(part(0, 5, WHOLE)), "0 %");
        assert_eq!(hundredths(part(1, 2000, WHOLE)), "0.05 %");
        assert_eq!(part(i64::MAX, i64::MAX, WHOLE), WHOLE);
        assert_eq!(tenths(1, 200), "0.5 %");
        assert_eq!(tenths(1, 2_000), "under 0.1 %");
        assert_eq!(tenths(0, 2_000), "0 %");
        assert_eq!(tenths(7, 7), "100 %");
    }

    #[test]
    fn a_change_has_a_sign_and_is_none_from_nothing() {
        assert_eq!(change(104, 100).as_deref(), Some("+4 %"));
        assert_eq!(change(50, 100).as_deref(), Some("−50 %"));
        assert_eq!(change(0, 3).as_deref(), Some("−100 %"));
        assert_eq!(change(1_001, 1_000).as_deref(), Some("no change"));
        assert_eq!(change(9, 0), None);
        assert_eq!(change(12_000, 100).as_deref(), Some("+11,900 %"));
        assert!(change(i64::MAX, 1).is_some());
        assert_eq!(points(9_998, 9_950), "+0.48 points");
        assert_eq!(points(9_900, 10_000), "−1.00 points");
        assert_eq!(points(1, 1), "no change");
    }
}
