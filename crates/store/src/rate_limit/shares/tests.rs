//! What a process pays from its shares, and what it asks for.

use std::collections::HashMap;

use domain::{key::SecretHash, rate_limit::RatePolicy};
use uuid::Uuid;

use super::*;
use crate::rate_limit::windows::Given;

const MINUTE: Duration = Duration::from_mins(1);

fn key(n: u8) -> Request {
    (SecretHash::from([n; 32]), RatePolicy::Submit)
}

fn team() -> TeamId {
    Uuid::from_u128(7).into()
}

fn given(share: u32, limit: u32, rest: u32) -> Given {
    Given {
        share,
        limit,
        rest,
        others: false,
        minute: 60,
        ends_in_ms: 60_000,
    }
}

/// What a statement gives for one key and its team.
fn taken(request: Request, of_key: Given, of_team: Given) -> Taken {
    Taken {
        keys: HashMap::from([(request, (team(), Some(of_key)))]),
        teams: HashMap::from([((team(), request.1), of_team)]),
    }
}

fn holding(of_key: Given, of_team: Given) -> (Shares, Instant) {
    let (shares, now) = (Shares::default(), Instant::now());
    shares.put(&taken(key(1), of_key, of_team), now);
    (shares, now)
}

fn paid(spent: Spent) -> RateStanding {
    match spent {
        Spent::One(standing) => standing,
        Spent::Nothing(..) | Spent::Unknown => panic!("{spent:?}"),
    }
}

#[test]
fn a_share_is_spent_once_and_not_beyond_its_minute() {
    let (shares, now) = holding(given(2, 10, 5), given(20, 100, 50));
    let first = paid(shares.spend(key(1), now));
    assert_eq!((first.key.remaining, first.team.remaining), (6, 69));
    assert_eq!((first.key.name, first.team.name), ("submit", "team_submit"));
    assert_eq!(first.key.resets_in, 60);
    assert_eq!(shares.spend(key(1), now + MINUTE), Spent::Unknown);
    assert_eq!(paid(shares.spend(key(1), now)).key.remaining, 5);
    assert_eq!(shares.spend(key(1), now), Spent::Unknown);
}

#[test]
fn a_request_is_paid_out_of_both_windows_or_out_of_neither() {
    let (shares, now) = holding(given(3, 10, 5), given(1, 100, 50));
    paid(shares.spend(key(1), now));
    assert_eq!(shares.spend(key(1), now), Spent::Unknown);
    let lacking = shares.lacking(key(1));
    assert_eq!(lacking, [(Holder::Team(team()), RatePolicy::Submit)]);
    assert_eq!(
        shares.surrender((Holder::Key(key(1).0), RatePolicy::Submit), now),
        2
    );
}

#[test]
fn what_is_held_of_a_minute_grows_and_what_is_of_another_does_not_count() {
    let (shares, now) = holding(given(3, 10, 5), given(9, 100, 50));
    let mut more = taken(key(2), given(1, 10, 5), given(4, 100, 46));
    shares.put(&more, now);
    let wanted = shares.wanted(key(2), 5, now);
    assert_eq!((wanted.held, wanted.team_held), (1, Some(13)));
    for next in more.teams.values_mut() {
        next.minute += 60;
    }
    shares.put(&more, now);
    assert_eq!(shares.wanted(key(2), 5, now).team_held, Some(4));
}

#[test]
fn another_policy_has_its_own_share() {
    let (shares, now) = holding(given(1, 10, 0), given(1, 10, 0));
    let status = (key(1).0, RatePolicy::Status);
    assert_eq!(shares.spend(status, now), Spent::Unknown);
}

#[test]
fn what_is_surrendered_cannot_be_spent() {
    for holder in [Holder::Key(key(1).0), Holder::Team(team())] {
        let (shares, now) = holding(given(7, 10, 0), given(7, 10, 0));
        let limited = (holder, RatePolicy::Submit);
        assert_eq!(shares.surrender(limited, now), 7);
        assert_eq!(shares.surrender(limited, now), 0);
        assert_eq!(shares.spend(key(1), now), Spent::Unknown);
    }
}

#[test]
fn a_spent_window_is_refused_unasked_for_a_moment() {
    for (of_key, of_team, scope) in [(0, 5, RateScope::Key), (5, 0, RateScope::Team)] {
        let (shares, now) = holding(given(of_key, 10, 0), given(of_team, 10, 0));
        assert_eq!(shares.spend(key(1), now), Spent::Unknown);
        let Spent::Nothing(standing, refused) = shares.settle(key(1), now, false) else {
            panic!("it is certain");
        };
        assert_eq!((standing.of(scope).remaining, refused), (0, scope));
        assert!(matches!(shares.spend(key(1), now), Spent::Nothing(..)));
        assert_eq!(shares.spend(key(1), now + SURE), Spent::Unknown);
    }
}

#[test]
fn nothing_is_refused_while_somebody_else_may_hold_a_part() {
    let elsewhere = Given {
        others: true,
        ..given(0, 10, 0)
    };
    let (shares, now) = holding(given(5, 10, 0), elsewhere);
    assert_eq!(shares.settle(key(1), now, false), Spent::Unknown);
    assert!(matches!(
        shares.settle(key(1), now, true),
        Spent::Nothing(_, RateScope::Team)
    ));
    let (shares, now) = holding(given(0, 10, 3), given(5, 10, 0));
    assert_eq!(shares.settle(key(1), now, false), Spent::Unknown);
}

#[test]
fn shares_of_past_minutes_are_forgotten() {
    let (shares, now) = (Shares::default(), Instant::now());
    for n in 0..100 {
        shares.put(&taken(key(n), given(1, 10, 0), given(1, 10, 0)), now);
    }
    {
        let mut held = shares.lock();
        for (_, share) in held.keys.values_mut() {
            share.expires = now;
        }
        held.sweep_at = None;
    }
    shares.put(&taken(key(200), given(1, 10, 0), given(1, 10, 0)), now);
    assert_eq!(shares.lock().keys.len(), 1);
}
