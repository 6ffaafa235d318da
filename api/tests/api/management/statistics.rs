//! Statistics.

use chrono::{DurationRound as _, TimeDelta, Utc};
use domain::{media::Status, scope::Scope};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::statistics::slice;

use super::document::assert_answers;
use crate::{
    app::{App, Tenant},
    client::Answer,
};

impl App {
    /// Adds up everything, as the chain does.
    async fn add_up(&self) {
        sqlx::raw_sql("update statistics_progress set state = 'running', ended_at = null")
            .execute(&self.pool)
            .await
            .unwrap();
        while let Some(slice) = slice::next(&self.pool).await.unwrap() {
            self.apply(slice).await;
        }
    }
}

fn accepted(answer: &Answer) -> Value {
    answer.ok()["totals"]["accepted"].clone()
}

#[sqlx::test(migrations = false)]
async fn figures_are_those_of_the_site_the_team_or_everything(pool: PgPool) {
    let app = App::start(pool).await;
    let other = Tenant::create(&app.pool, "other").await;
    let member = app.member(app.tenant.team).await;
    let before = member.get("/statistics").await.ok();
    assert_eq!(before["buckets"], json!([]));
    assert_eq!(before["totals"]["accepted"], 0);
    assert_eq!(before["history_counted"], true);

    let began = Utc::now().duration_trunc(TimeDelta::hours(1)).unwrap();
    app.in_review("one").await;
    let two = app.submitted("two").await;
    app.judge(&two, Status::Approved).await;
    app.add_up().await;
    let site = format!("/statistics?site_id={}&interval=hour", app.tenant.site);
    let report = member.get(&site).await.ok();
    assert_answers("GET", "/statistics", &report);
    assert_eq!(report["site_id"], json!(app.tenant.site));
    assert_eq!(report["totals"]["accepted"], 2);
    assert_eq!(report["totals"]["reviews"]["opened"], 1);
    // `judge` stores that a provider failed.
    let policy = &report["totals"]["verdicts"]["failure_policy"];
    assert_eq!(policy["approved"], 1);
    let hour = Utc::now().duration_trunc(TimeDelta::hours(1)).unwrap();
    // There are two if the hour has ended meanwhile.
    let buckets = report["buckets"].as_array().unwrap().len();
    assert!(buckets == 1 || (buckets == 2 && hour > began), "{report}");
    let start = report["buckets"][0]["start"].as_str().unwrap();
    assert!(hour - start.parse::<chrono::DateTime<Utc>>().unwrap() <= TimeDelta::hours(1));

    assert_eq!(accepted(&member.get("/statistics").await), 2);
    let operator = app.operator().await;
    assert_eq!(accepted(&operator.get("/statistics").await), 2);
    assert_eq!(accepted(&operator.get(&site).await), 2);

    // Another team sees nothing of it, and has its own.
    let stranger = app.member(other.team).await;
    assert_eq!(accepted(&stranger.get("/statistics").await), 0);
    stranger.get(&site).await.problem(404, "not_found");
}

#[sqlx::test(migrations = false)]
async fn a_wrong_request_is_refused(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    for (query, field) in [
        ("interval=week", "interval"),
        ("from=yesterday", "from"),
        ("from=2026-01-01T00:00:00Z&to=2027-03-01T00:00:00Z", "from"),
        (
            "from=2026-01-01T00:00:00Z&to=2026-02-02T00:00:00Z&interval=hour",
            "from",
        ),
        ("from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z", "from"),
        ("days=3", "days"),
        ("team_id=x", "team_id"),
    ] {
        let answer = member.get(&format!("/statistics?{query}")).await;
        answer.blames("invalid_request", &[field]);
    }
    let scopes = [Scope::SitesRead, Scope::UsageRead];
    let reader = app.caller(Some(app.tenant.team), &scopes).await;
    reader
        .get("/statistics")
        .await
        .problem(403, "missing_scope");
}
