//! Numbers as people read them: with commas between thousands.

/// A whole number, as `1,204`.
pub(crate) fn grouped(number: impl TryInto<i64>) -> String {
    let number = number.try_into().unwrap_or(i64::MAX);
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    if number < 0 {
        text.push('-');
    }
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How much of a whole a part is, from 0 to 100. Nothing of nothing is all of it.
pub(crate) fn percent(part: i64, whole: i64) -> i64 {
    if whole <= 0 {
        return 100;
    }
    let percent = i128::from(part.max(0)) * 100 / i128::from(whole);
    i64::try_from(percent.min(100)).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_divided_by_commas() {
        let pairs: [(i64, &str); 6] = [
            (0, "0"),
            (-7, "-7"),
            (999, "999"),
            (1_000, "1,000"),
            (-123_456, "-123,456"),
            (9_007_199_254_740_991, "9,007,199,254,740,991"),
        ];
        for (number, text) in pairs {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn thousands_are_apart() {
        for (number, text) in [
            (1_i64, "1"),
            (-12_345, "-12,345"),
            (i64::MAX, "9,223,372,036,854,775,807"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn a_share_is_never_more_than_all() {
        assert_eq!(percent(0, 10), 0);
        assert_eq!(percent(1, 3), 33);
        assert_eq!(percent(i64::MAX, i64::MAX), 100);
        assert_eq!(percent(11, 10), 100);
        assert_eq!(percent(0, 0), 100);
    }
}
