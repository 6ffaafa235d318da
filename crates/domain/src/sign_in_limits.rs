//! How long a person who guesses must wait, and how long a session lasts.

use std::time::Duration;

use chrono::TimeDelta;

/// Tries that cost no waiting, because people mistype.
const FREE: u32 = 5;
/// The same for codes of the second factor, from all addresses together. The person may be trying
/// from several.
const FREE_ANYWHERE: u32 = 30;
/// The wait after each further code, from all addresses together: a code lasts as long. At most
/// 2,880 codes a day are tried so, of which three in a million are right at a time. It stays that
/// short, because the owner waits, too.
const WAIT_ANYWHERE: Duration = Duration::from_secs(30);
/// The wait after the first try that is not free. Each further one doubles it.
const FIRST_WAIT: Duration = Duration::from_secs(2);
/// The longest wait. With it, an address guesses at most about a hundred passwords of an account a
/// day.
const LONGEST_WAIT: Duration = Duration::from_mins(15);

/// After this time without a try, the count starts at 0 again.
pub const FORGOTTEN_AFTER: TimeDelta = TimeDelta::hours(24);
/// A session that is not used for this time is over.
pub const IDLE: TimeDelta = TimeDelta::minutes(30);
/// A session is over after this time, even if it is used.
pub const LONGEST_SESSION: TimeDelta = TimeDelta::hours(12);
/// For this time after a password was typed, its owner can make delicate changes without typing it
/// again.
pub const RECENT: TimeDelta = TimeDelta::minutes(10);
/// How many sessions a person has at most. One more ends an earlier one.
pub const MOST_SESSIONS: i64 = 20;
/// How many wrong codes of the second factor end a session that waits for one.
pub const MOST_CODES: i16 = 5;
/// How long a sign-in at a provider of single sign-on may take.
pub const ATTEMPT: TimeDelta = TimeDelta::minutes(10);
/// How long an invitation can be used.
pub const INVITATION: TimeDelta = TimeDelta::days(3);
/// How long a link to a new password can be used.
pub const RESET: TimeDelta = TimeDelta::hours(24);
/// How many people a team has at most, including open invitations.
pub const MOST_PEOPLE: i64 = 1_000;
/// How many teams a person is in at most.
pub const MOST_TEAMS: i64 = 50;
/// How many sites a moderator can be limited to.
pub const MOST_SITES: usize = 1_000;

/// From where tries at an account are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guesses {
    /// From one address.
    FromAddress,
    /// From all addresses, codes of the second factor only: who tries them knows the password.
    FromAnywhere,
}

/// How long the next try at an account must wait after this number of failed tries.
pub fn wait_after(guesses: Guesses, failures: u32) -> Duration {
    match guesses {
        Guesses::FromAddress => {
            let Some(doublings) = failures.checked_sub(FREE) else {
                return Duration::ZERO;
            };
            let factor = 2_u32.saturating_pow(doublings);
            FIRST_WAIT.saturating_mul(factor).min(LONGEST_WAIT)
        }
        Guesses::FromAnywhere if failures < FREE_ANYWHERE => Duration::ZERO,
        Guesses::FromAnywhere => WAIT_ANYWHERE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_mistakes_cost_nothing_and_guessing_costs_more_and_more() {
        let wait = |failures| wait_after(Guesses::FromAddress, failures);
        for failures in 0..FREE {
            assert_eq!(wait(failures), Duration::ZERO);
        }
        let waits: Vec<u64> = (FREE..FREE + 11).map(|n| wait(n).as_secs()).collect();
        assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
        assert_eq!(wait(u32::MAX), LONGEST_WAIT);
    }

    #[test]
    fn codes_from_all_addresses_together_wait_and_are_never_locked_out() {
        let wait = |failures| wait_after(Guesses::FromAnywhere, failures);
        assert_eq!(wait(FREE_ANYWHERE - 1), Duration::ZERO);
        assert_eq!(wait(FREE_ANYWHERE), WAIT_ANYWHERE);
        assert_eq!(wait(u32::MAX), WAIT_ANYWHERE);
    }
}
