//! The axis of a chart: its steps, and how values become places on it.

/// How many steps an axis has at most.
const STEPS: u128 = 4;

/// An axis that begins at 0. Its steps are 1, 2 or 5 times a power of ten.
pub(super) struct Axis {
    step: u128,
    steps: u128,
}

impl Axis {
    /// An axis on which this value has a place.
    pub(super) fn up_to(top: u128) -> Self {
        let top = top.max(1);
        let step = round(top.div_ceil(STEPS));
        Self {
            step,
            steps: top.div_ceil(step),
        }
    }

    /// The steps, the highest first.
    pub(super) fn steps(&self) -> impl Iterator<Item = u128> + '_ {
        (0..=self.steps).rev().map(|step| step * self.step)
    }

    /// The place of a value on a line of this length, from 0 on.
    pub(super) fn place(&self, value: u128, length: u32) -> u32 {
        let place = value * u128::from(length) / (self.step * self.steps);
        u32::try_from(place).unwrap_or(length).min(length)
    }
}

/// The next number that is 1, 2 or 5 times a power of ten.
fn round(value: u128) -> u128 {
    let power = 10_u128.pow(value.ilog10());
    let mut round = [1, 2, 5].into_iter().map(|factor| factor * power);
    round.find(|round| *round >= value).unwrap_or(10 * power)
}

/// A step as a short text: `500`, `1.5k`, `2M`.
pub(super) fn short(value: u128) -> String {
    let units = ["", "k", "M", "G", "T", "P", "E"];
    let power = value.checked_ilog10().unwrap_or(0) / 3;
    let place = usize::try_from(power).unwrap_or(0).min(units.len() - 1);
    let unit = 1000_u128.pow(u32::try_from(place).unwrap_or(0));
    let (whole, tenth) = (value / unit, value % unit * 10 / unit);
    match tenth {
        0 => format!("{whole}{}", units[place]),
        tenth => format!("{whole}.{tenth}{}", units[place]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(top: u128) -> Vec<String> {
        Axis::up_to(top).steps().map(short).collect()
    }

    #[test]
    fn an_axis_has_few_round_steps_and_a_place_for_its_top() {
        assert_eq!(steps(0), ["1", "0"]);
        assert_eq!(steps(1), ["1", "0"]);
        assert_eq!(steps(4), ["4", "3", "2", "1", "0"]);
        assert_eq!(steps(5), ["6", "4", "2", "0"]);
        assert_eq!(steps(1_850), ["2k", "1.5k", "1k", "500", "0"]);
        assert_eq!(steps(61_204), ["80k", "60k", "40k", "20k", "0"]);
        assert_eq!(steps(3_000_000), ["3M", "2M", "1M", "0"]);
        for top in [
            0,
            1,
            2,
            3,
            7,
            9,
            10,
            11,
            99,
            101,
            12_345,
            u128::from(u64::MAX),
        ] {
            let axis = Axis::up_to(top);
            let most = axis.steps().next().unwrap();
            assert!(most >= top, "{top}");
            assert!(axis.steps().count() <= 5, "{top}");
            assert_eq!(axis.place(most, 600), 600, "{top}");
            assert_eq!(axis.place(0, 600), 0, "{top}");
            assert!(axis.place(top, 600) >= 300 || top == 0, "{top}");
        }
    }

    #[test]
    fn huge_values_neither_overflow_nor_leave_the_chart() {
        let most = 12 * u128::from(u64::MAX);
        let axis = Axis::up_to(most);
        assert!(axis.place(most, 600) <= 600);
        assert_eq!(axis.place(1, 600), 0);
        assert_eq!(Axis::up_to(10).place(1_000, 600), 600);
        assert_eq!(steps(most)[0], "300E");
    }
}
