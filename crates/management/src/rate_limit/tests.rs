//! Limits of tokens, teams and addresses.

use domain::{actor::Actor, key::ManagementToken, reach::Reach};
use futures::FutureExt as _;
use uuid::Uuid;

use super::*;

const SETTINGS: fn() -> RateLimitSettings = || RateLimitSettings {
    per_token: 3,
    per_team: 5,
    per_address: 20,
    at_once: 4,
    patience: Duration::from_secs(1),
    proxies: Proxies::new(["10.0.0.0/8".parse().unwrap()]),
};

fn hash(n: u128) -> SecretHash {
    ManagementToken::generate(std::iter::repeat(u8::try_from(n).unwrap())).hash()
}

fn actor(n: u128) -> Actor {
    Actor::Token(Uuid::from_u128(n).into())
}

/// What the interface does with a request of a valid token.
fn ask(window: &mut Window, address: &str, token: u128, team: Option<u128>) -> Option<Whose> {
    let settings = SETTINGS();
    let team = team.map(|team| Uuid::from_u128(team).into());
    window
        .arrive(&settings, Some(address.parse().unwrap()), Some(hash(token)))
        .and_then(|_| window.admit(&settings, hash(token), actor(token), team))
        .err()
        .map(|Spent(whose, _)| whose)
}

#[test]
fn a_token_a_team_and_an_address_have_their_requests_and_the_next_minute_more() {
    let mut window = Window::new(Instant::now());
    for _ in 0..3 {
        assert_eq!(ask(&mut window, "192.0.2.1", 1, Some(7)), None);
    }
    assert_eq!(
        ask(&mut window, "192.0.2.1", 1, Some(7)),
        Some(Whose::Token)
    );
    for _ in 0..2 {
        assert_eq!(ask(&mut window, "192.0.2.1", 2, Some(7)), None);
    }
    assert_eq!(ask(&mut window, "192.0.2.2", 2, Some(7)), Some(Whose::Team));
    // Another team behind the same address is not affected.
    assert_eq!(ask(&mut window, "192.0.2.1", 3, Some(8)), None);
    window.turn(Instant::now() + WINDOW);
    assert_eq!(ask(&mut window, "192.0.2.1", 1, Some(7)), None);
}

#[test]
fn what_a_team_is_refused_costs_its_address_nothing() {
    let mut window = Window::new(Instant::now());
    for _ in 0..1_000 {
        for token in [1, 2, 3] {
            ask(&mut window, "192.0.2.1", token, Some(7));
        }
    }
    for token in [4, 5, 6] {
        assert_eq!(ask(&mut window, "192.0.2.1", token, Some(8)), None);
    }
}

#[test]
fn tokens_that_are_not_valid_count_for_their_address() {
    let mut window = Window::new(Instant::now());
    let mut guess = |n| {
        let address = Some("192.0.2.1".parse().unwrap());
        window.arrive(&SETTINGS(), address, (n > 10).then(|| hash(n)))
    };
    for n in 0..20 {
        assert!(guess(n).is_ok());
    }
    assert!(matches!(guess(20), Err(Spent(Whose::Address, 1..=60))));
    assert_eq!(ask(&mut window, "192.0.2.1", 1, None), Some(Whose::Address));
    assert_eq!(ask(&mut window, "192.0.2.2", 1, None), None);
}

#[tokio::test]
async fn a_team_waits_for_its_turns_after_a_burst_whatever_its_tokens() {
    // 10 a second, 20 at once.
    let rate_limit = RateLimit::new(RateLimitSettings {
        per_team: 600,
        ..RateLimitSettings::default()
    });
    for (token, team) in [(1, 7), (2, 7), (3, 8)] {
        let grant = Grant {
            is_closed: false,
            actor: actor(token),
            reach: Reach::Team(Uuid::from_u128(team).into()),
            scopes: Vec::new(),
            expires_at: None,
            generation: 0,
        };
        rate_limit.admit(hash(token), &grant).ok().unwrap();
    }
    let address = "192.0.2.1".parse().unwrap();
    let arrive = |token| rate_limit.arrive(address, Some(hash(token)));
    let began = Instant::now();
    for number in 0..25 {
        arrive(1 + number % 2).await.ok().unwrap();
    }
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(500), "{took:?}");
    // A turn that nobody waits for is lost, so each wait is longer than the last.
    let refused = (0..100).any(|_| arrive(1).now_or_never().is_some_and(|turn| turn.is_err()));
    assert!(refused, "nobody waits for more than {LONGEST_WAIT:?}");
    let other = arrive(3).now_or_never();
    assert!(other.is_some_and(|turn| turn.is_ok()), "another team waits");
}

#[test]
fn the_table_is_bounded() {
    let mut counts = HashMap::new();
    for key in 0..2 * COUNTED {
        assert!(count(&mut counts, key, 1));
    }
    assert_eq!(counts.len(), COUNTED);
    assert!(
        !count(&mut counts, 0, 1),
        "those that are counted still are"
    );
}
