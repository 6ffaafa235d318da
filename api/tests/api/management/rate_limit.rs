//! How many requests the management interface takes in a minute.

use http_server::serve::Settings;
use management::RateLimitSettings;
use sqlx::PgPool;

use crate::{
    app::{App, Options, Tenant},
    client::{Answer, Wire},
};

fn options(pace: RateLimitSettings) -> Options {
    Options {
        pace,
        serve: Settings::default(),
        ..Options::default()
    }
}

fn pace() -> RateLimitSettings {
    RateLimitSettings {
        per_token: 4,
        per_team: 6,
        per_address: 20,
        ..RateLimitSettings::default()
    }
}

#[track_caller]
fn limited(answer: &Answer, whose: &str) {
    let problem = answer.problem(429, "rate_limited");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains(whose), "{detail}");
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
}

#[sqlx::test(migrations = false)]
async fn case_45_a_token_and_a_team_have_so_many_requests_a_minute_and_others_are_not_concerned(
    pool: PgPool,
) {
    let app = App::with(pool, options(pace())).await;
    let first = app.member(app.tenant.team).await;
    let second = app.member(app.tenant.team).await;
    let other = Tenant::create(&app.pool, "other").await.team;
    let (other, operator) = (app.member(other).await, app.operator().await);
    for _ in 0..4 {
        first.get("/teams").await.ok();
    }
    limited(&first.get("/teams").await, "this token");
    for _ in 0..2 {
        second.get("/teams").await.ok();
    }
    // One more token is no more requests.
    limited(&second.get("/teams").await, "this token's team");
    let third = app.member(app.tenant.team).await;
    limited(&third.get("/teams").await, "this token's team");
    // However often they are refused, nobody else is, from the same address.
    for _ in 0..50 {
        for refused in [&first, &second, &third] {
            limited(&refused.get("/teams").await, "this token");
        }
    }
    other.get("/teams").await.ok();
    operator.get("/teams").await.ok();
}

/// A request from another address of this machine.
async fn guess(app: &App, from: &str, token: &str) -> Answer {
    let mut wire = Wire::open_from(from, app.address).await;
    let head = format!(
        "GET /management/v1/teams HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    wire.send(head).await;
    wire.answer().await
}

#[sqlx::test(migrations = false)]
async fn case_45_an_address_that_guesses_tokens_is_refused_and_another_is_not(pool: PgPool) {
    let app = App::with(pool, options(pace())).await;
    let unknown = "mgmt_EXAMPLEexampleEXAMPLEexamplev7Qx";
    for n in 0..20 {
        let token = if n % 2 == 0 { unknown } else { "nonsense" };
        guess(&app, "127.0.0.2", token)
            .await
            .problem(401, "invalid_token");
    }
    limited(&guess(&app, "127.0.0.2", unknown).await, "your address");
    guess(&app, "127.0.0.3", unknown)
        .await
        .problem(401, "invalid_token");

    let proxies = fair_share::Proxies::new(["127.0.0.0/8".parse().unwrap()]);
    let behind = RateLimitSettings { proxies, ..pace() };
    let app = App::serve(
        app.pool.clone(),
        Tenant::create(&app.pool, "another").await,
        options(behind),
    )
    .await;
    for _ in 0..25 {
        guess(&app, "127.0.0.2", unknown)
            .await
            .problem(401, "invalid_token");
    }
}
