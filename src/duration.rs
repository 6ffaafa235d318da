//! Durations as people write and read them.

use std::{fmt::Write as _, time::Duration};

const UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

/// A whole number with its unit: `ms`, `s`, `m`, `h` or `d`.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = &text[digits.len()..];
    let millis = match UNITS.iter().find(|(name, _)| *name == unit) {
        Some((_, seconds)) => seconds * 1_000,
        None if unit == "ms" => 1,
        None => return Err("must be a number with a unit: 250ms, 5s, 10m, 2h, 1d".to_owned()),
    };
    let count: u64 = digits
        .parse()
        .map_err(|_| "must be a whole number with a unit: 250ms, 5s, 10m, 2h, 1d".to_owned())?;
    count
        .checked_mul(millis)
        .map(Duration::from_millis)
        .ok_or_else(|| "too long".to_owned())
}

/// In its two largest units, as `3m 12s` or `2h`.
pub(crate) fn humane(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let Some(largest) = UNITS.iter().position(|(_, unit)| seconds >= *unit) else {
        return "0s".to_owned();
    };
    let (name, unit) = UNITS[largest];
    let mut text = format!("{}{name}", seconds / unit);
    if let Some((name, smaller)) = UNITS.get(largest + 1)
        && seconds % unit >= *smaller
    {
        let _ = write!(text, " {}{name}", seconds % unit / smaller);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_shown_in_their_two_largest_units() {
        for (seconds, shown) in [
            (0, "0s"),
            (59, "59s"),
            (192, "3m 12s"),
            (600, "10m"),
            (7_205, "2h"),
            (90_061, "1d 1h"),
        ] {
            assert_eq!(humane(Duration::from_secs(seconds)), shown);
        }
    }

    #[test]
    fn durations_are_read_with_their_unit_only() {
        assert_eq!(parse("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse("2h"), Ok(Duration::from_hours(2)));
        for wrong in [
            "",
            "5",
            "5 m",
            "-5m",
            "1.5h",
            "m",
            "5w",
            "99999999999999999d",
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
