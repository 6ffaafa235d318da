//! What an endpoint's answer means for its delivery. Each name begins with the number of its case
//! in `docs/reliability.md`.

use chrono::{TimeDelta, Utc};
use sqlx::PgPool;

use super::Endpoints;
use crate::support::{Act, SOON, ScriptedServer, eventually};

#[sqlx::test(migrations = false)]
async fn case_18_every_2xx_is_a_success_and_a_redirect_is_a_failure_that_nobody_follows(
    pool: PgPool,
) {
    const STATUSES: [&str; 10] = [
        "/200", "/201", "/202", "/204", "/299", "/301", "/302", "/303", "/307", "/308",
    ];
    let server = ScriptedServer::start(|path, _| {
        let status = path.trim_start_matches('/');
        Act::head(&format!("{status} Well\r\nLocation: /target"))
    })
    .await;
    let service = Endpoints::start(pool, &server, &STATUSES).await;
    // Endpoints that redirect fail until the end.
    service.worker.leaves_jobs();
    service.submit().await;
    for first in service.firsts(STATUSES.len(), SOON).await {
        let is_success = first.status_code.is_some_and(|status| status < 300);
        let (state, outcome) = if is_success {
            ("delivered", "delivered")
        } else {
            ("pending", "status")
        };
        assert_eq!(
            (first.state.as_str(), first.outcome.as_str()),
            (state, outcome),
            "{first:?}"
        );
        let (_, status) = first.url.rsplit_once('/').unwrap();
        assert_eq!(first.status_code, status.parse().ok());
    }
    assert_eq!(server.asked("/target"), 0);
}

#[sqlx::test(migrations = false)]
async fn case_19_gone_disables_an_endpoint_at_once_and_nothing_follows(pool: PgPool) {
    let server = ScriptedServer::start(|path, _| match path {
        "/gone" => Act::head("410 Gone"),
        _ => Act::head("200 OK"),
    })
    .await;
    let service = Endpoints::start(pool, &server, &["/gone", "/well"]).await;
    for _ in 0..5 {
        service.submit().await;
    }
    let states = "select e.url like '%/gone', e.disabled_reason, d.state, count(*)
        from deliveries d join webhook_endpoints e on e.id = d.endpoint_id group by 1, 2, 3 order by 1";
    let ended = eventually("all ended", SOON, async || {
        let rows: Vec<(bool, Option<String>, String, i64)> = sqlx::query_as(states)
            .fetch_all(&service.pool)
            .await
            .unwrap();
        // An item may have been decided after its endpoint was disabled. Then this event has no
        // delivery.
        let delivered = rows.iter().find(|row| row.2 == "delivered");
        let is_over = rows.iter().all(|row| row.2 != "pending");
        (is_over && delivered.is_some_and(|row| row.3 == 10)).then_some(rows)
    })
    .await;
    let [well, gone] = &ended[..] else {
        panic!("{ended:?}")
    };
    assert_eq!((well.0, &well.1), (false, &None));
    assert_eq!(
        (gone.0, gone.1.as_deref(), gone.2.as_str()),
        (true, Some("the endpoint answered 410 Gone"), "discarded")
    );

    let asked = server.asked("/gone");
    service.submit().await;
    eventually("the other has it", SOON, async || {
        (server.asked("/well") == 12).then_some(())
    })
    .await;
    assert_eq!(server.asked("/gone"), asked);
}

#[sqlx::test(migrations = false)]
async fn case_19_retry_after_lengthens_a_wait_up_to_ten_hours_and_is_ignored_if_it_is_nonsense(
    pool: PgPool,
) {
    const HOUR: f64 = 3_600.0;
    let seconds = Some(120.0..120.0);
    // `None` means: as if there were no such header.
    let waits = [
        ("/429-seconds", seconds.clone()),
        ("/503-seconds", seconds),
        ("/503-date", Some(HOUR - 60.0..HOUR)),
        ("/429-month", Some(10.0 * HOUR..10.0 * HOUR)),
        ("/503-past", None),
        ("/429-rubbish", None),
        ("/503-less", None),
        ("/500-seconds", None),
        ("/404-seconds", None),
    ];
    let http_date = |wait: TimeDelta| {
        let date = (Utc::now() + wait).format("%a, %d %b %Y %H:%M:%S GMT");
        date.to_string()
    };
    let server = ScriptedServer::start(move |path, _| {
        let (status, word) = path.trim_start_matches('/').split_once('-').unwrap();
        let value = match word {
            "seconds" => "120".to_owned(),
            "less" => "0".to_owned(),
            "date" => http_date(TimeDelta::hours(1)),
            "past" => http_date(TimeDelta::hours(-1)),
            "month" => "2592000".to_owned(),
            _ => "in a while".to_owned(),
        };
        Act::head(&format!("{status} No\r\nRetry-After: {value}"))
    })
    .await;
    let paths: Vec<&str> = waits.iter().map(|(path, _)| *path).collect();
    let service = Endpoints::start(pool, &server, &paths).await;
    // All endpoints fail until the end.
    service.worker.leaves_jobs();
    service.submit().await;
    let firsts = service.firsts(paths.len(), SOON).await;
    for (path, expected) in waits {
        let first = firsts.iter().find(|first| first.url.ends_with(path));
        let first = first.unwrap();
        assert_eq!(first.state, "pending", "{first:?}");
        let wait = first.wait.unwrap();
        let is_as_expected = match expected {
            Some(range) => (range.start - 1.0..range.end + 1.0).contains(&wait),
            // The second attempt may have come already.
            None => first.attempts > 1 || (3.0..7.0).contains(&wait),
        };
        assert!(is_as_expected, "{first:?}");
    }
}
