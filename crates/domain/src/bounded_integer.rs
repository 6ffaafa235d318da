//! Whole numbers within limits.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A whole number from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct BoundedInteger<const MIN: i64, const MAX: i64>(i64);

impl<const MIN: i64, const MAX: i64> BoundedInteger<MIN, MAX> {
    /// A constant within the limits: the compiler refuses others.
    pub const fn of<const NUMBER: i64>() -> Self {
        const { assert!(MIN <= NUMBER && NUMBER <= MAX) };
        Self(NUMBER)
    }

    /// The number.
    pub const fn get(self) -> i64 {
        self.0
    }
}

/// It is not a whole number within the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from {min} to {max}")]
pub struct OutOfBounds {
    min: i64,
    max: i64,
}

impl<const MIN: i64, const MAX: i64> TryFrom<i64> for BoundedInteger<MIN, MAX> {
    type Error = OutOfBounds;

    fn try_from(number: i64) -> Result<Self, OutOfBounds> {
        if (MIN..=MAX).contains(&number) {
            Ok(Self(number))
        } else {
            Err(OutOfBounds { min: MIN, max: MAX })
        }
    }
}

impl<const MIN: i64, const MAX: i64> FromStr for BoundedInteger<MIN, MAX> {
    type Err = OutOfBounds;

    fn from_str(text: &str) -> Result<Self, OutOfBounds> {
        let number: i64 = text
            .parse()
            .map_err(|_| OutOfBounds { min: MIN, max: MAX })?;
        number.try_into()
    }
}

impl<const MIN: i64, const MAX: i64> From<BoundedInteger<MIN, MAX>> for i64 {
    fn from(number: BoundedInteger<MIN, MAX>) -> Self {
        number.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_themselves_are_within() {
        let whole =
            |number: i64| BoundedInteger::<1, 100>::try_from(number).map(BoundedInteger::get);
        assert_eq!((whole(1), whole(100)), (Ok(1), Ok(100)));
        for number in [i64::MIN, 0, 101, i64::MAX] {
            let refused = whole(number).unwrap_err();
            assert_eq!(refused.to_string(), "must be a whole number from 1 to 100");
        }
        assert_eq!("7".parse().map(BoundedInteger::<1, 100>::get), Ok(7));
        for text in ["", "0", "101", "7.0", "seven", "99999999999999999999"] {
            assert!(text.parse::<BoundedInteger<1, 100>>().is_err(), "{text:?}");
        }
    }
}
