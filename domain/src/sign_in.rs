//! How long somebody who guesses has to wait, and how long a session lasts.

use std::time::Duration;

use chrono::TimeDelta;

/// Tries that cost no waiting: people mistype.
const FREE: u32 = 5;
/// The wait after the first try that is not free. Each further one doubles it.
const FIRST_WAIT: Duration = Duration::from_secs(2);
/// The longest wait. With it, an address guesses at most about a hundred passwords of an account a day.
const LONGEST_WAIT: Duration = Duration::from_mins(15);

/// After so long without a try, an address begins anew.
pub const FORGOTTEN_AFTER: TimeDelta = TimeDelta::hours(24);
/// A session that is not used for so long is over.
pub const IDLE: TimeDelta = TimeDelta::minutes(30);
/// However much it is used, a session is over after so long.
pub const LONGEST_SESSION: TimeDelta = TimeDelta::hours(12);
/// For so long after it was typed, a password need not be typed again to change what is delicate.
pub const RECENT: TimeDelta = TimeDelta::minutes(10);
/// How many sessions somebody has at once. One more ends the one that was used the longest ago.
pub const MOST_SESSIONS: i64 = 20;
/// How many wrong codes of the second factor end a session that waits for one.
pub const MOST_CODES: i16 = 5;
/// How long an invitation can be used.
pub const INVITATION: TimeDelta = TimeDelta::days(3);
/// How long a link to a new password can be used.
pub const RESET: TimeDelta = TimeDelta::hours(24);
/// How many people may be in a team, invitations that are open included.
pub const MOST_PEOPLE: i64 = 1_000;
/// How many teams somebody may be in.
pub const MOST_TEAMS: i64 = 50;
/// How many sites a moderator can be limited to.
pub const MOST_SITES: usize = 1_000;

/// How long an address waits before its next try at an account, after so many tries that failed.
pub fn wait_after(failures: u32) -> Duration {
    let Some(doublings) = failures.checked_sub(FREE) else {
        return Duration::ZERO;
    };
    let factor = 2_u32.saturating_pow(doublings);
    FIRST_WAIT.saturating_mul(factor).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_mistakes_cost_nothing_and_guessing_costs_more_and_more() {
        for failures in 0..FREE {
            assert_eq!(wait_after(failures), Duration::ZERO);
        }
        let waits: Vec<u64> = (FREE..FREE + 11).map(|n| wait_after(n).as_secs()).collect();
        assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
        assert_eq!(wait_after(u32::MAX), LONGEST_WAIT);
    }
}
