//! How sign-ins end, as a metric. Its label never names an account or an address.

use metrics::{Counter, counter};

use crate::Refused;

/// How one step of a sign-in ended: giving the password, or giving the code of the second factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The password was right.
    Password,
    /// The code was right.
    Code,
    /// The provider of single sign-on said who it is.
    SignOn,
    /// What came back from the provider of single sign-on was no sign-in, or the person may sign in nowhere.
    SignOnFailed,
    /// Account and password do not belong together, or the person may sign in nowhere.
    WrongPassword,
    /// The code was wrong, or was used before.
    WrongCode,
    /// There were too many tries.
    Throttled,
    /// Too many passwords were being compared.
    Overloaded,
}

impl Outcome {
    const ALL: [Self; 8] = [
        Self::Password,
        Self::Code,
        Self::SignOn,
        Self::SignOnFailed,
        Self::WrongPassword,
        Self::WrongCode,
        Self::Throttled,
        Self::Overloaded,
    ];

    /// What a step came to, if it succeeds with this one. None: it is no outcome of a sign-in, but
    /// a session that was over, or a failure of the database.
    pub(super) fn of<T>(result: &Result<T, Refused>, success: Self) -> Option<Self> {
        match result {
            Ok(_) => Some(success),
            Err(Refused::SignInFailed) => Some(Self::WrongPassword),
            Err(Refused::WrongCode) => Some(Self::WrongCode),
            Err(Refused::TooManyTries { .. }) => Some(Self::Throttled),
            Err(Refused::Overloaded) => Some(Self::Overloaded),
            Err(_) => None,
        }
    }

    pub(super) fn count(self) {
        self.counter().increment(1);
    }

    fn counter(self) -> Counter {
        counter!("gatehouse_sign_ins_total", "outcome" => self.as_str())
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Code => "code",
            Self::SignOn => "sign_on",
            Self::SignOnFailed => "sign_on_failed",
            Self::WrongPassword => "wrong_password",
            Self::WrongCode => "wrong_code",
            Self::Throttled => "throttled",
            Self::Overloaded => "overloaded",
        }
    }
}

/// Shows all outcomes as 0 from the start: a counter that first appears with its first sign-in has
/// no increase then.
pub fn expect_none() {
    for outcome in Outcome::ALL {
        outcome.counter().increment(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_of_a_sign_in_has_an_outcome_and_others_have_none() {
        let of = |refused| Outcome::of::<()>(&Err(refused), Outcome::Code);
        assert_eq!(Outcome::of(&Ok(()), Outcome::Code), Some(Outcome::Code));
        for (refused, outcome) in [
            (Refused::SignInFailed, Some(Outcome::WrongPassword)),
            (Refused::WrongCode, Some(Outcome::WrongCode)),
            (
                Refused::TooManyTries { seconds: 2 },
                Some(Outcome::Throttled),
            ),
            (Refused::Overloaded, Some(Outcome::Overloaded)),
            (Refused::Unauthenticated, None),
            (Refused::Internal, None),
        ] {
            assert_eq!(of(refused), outcome);
        }
    }
}
