//! The reports of the desk: an hour of three people, 400 decisions, and every figure calculated by hand from the script.

mod expected_figures;
mod simulated_hour;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sqlx::PgPool;
use store::jobs;

use self::{expected_figures::Expected, simulated_hour::Hour};
use super::{claim_one, decide};
use crate::{
    app::{App, Tenant},
    management::document::assert_answers,
};

const SPAN: &str = "from=2026-01-15T00:00:00Z&to=2026-01-16T00:00:00Z";

/// Whether two documents are the same, numbers up to rounding.
#[track_caller]
fn assert_same(place: &str, found: &Value, expected: &Value) {
    match (found, expected) {
        (Value::Number(one), Value::Number(two)) => {
            let (one, two) = (one.as_f64().unwrap(), two.as_f64().unwrap());
            assert!((one - two).abs() < 1e-5, "{place}: {one} is not {two}");
        }
        (Value::Object(one), Value::Object(two)) => {
            let names = |object: &serde_json::Map<String, Value>| {
                object.keys().cloned().collect::<BTreeSet<_>>()
            };
            assert_eq!(names(one), names(two), "{place}");
            for (name, value) in one {
                assert_same(&format!("{place}.{name}"), value, &two[name]);
            }
        }
        (Value::Array(one), Value::Array(two)) => {
            assert_eq!(one.len(), two.len(), "{place}: {one:?} {two:?}");
            for (number, (one, two)) in one.iter().zip(two).enumerate() {
                assert_same(&format!("{place}[{number}]"), one, two);
            }
        }
        (one, two) => assert_eq!(one, two, "{place}"),
    }
}

/// The lines of a CSV file, as a spreadsheet reads them.
fn lines(csv: &str) -> Vec<Vec<String>> {
    let mut lines = vec![vec![String::new()]];
    let mut is_quoted = false;
    let mut characters = csv.chars().peekable();
    while let Some(character) = characters.next() {
        let cell = lines.last_mut().unwrap().last_mut().unwrap();
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => lines.last_mut().unwrap().push(String::new()),
            '\r' if !is_quoted => {}
            '\n' if !is_quoted => lines.push(vec![String::new()]),
            other => cell.push(other),
        }
    }
    lines.pop();
    lines
}

/// The value of a figure in a CSV file.
#[track_caller]
fn value<'a>(lines: &'a [Vec<String>], of: [&str; 6]) -> &'a str {
    let mut found = lines.iter().filter(|line| line[..6] == of);
    let line = found.next().unwrap_or_else(|| panic!("{of:?}"));
    assert!(found.next().is_none(), "{of:?} is there twice");
    &line[6]
}

#[track_caller]
fn assert_number(lines: &[Vec<String>], of: [&str; 6], expected: &Value) {
    let found = value(lines, of);
    match expected.as_f64() {
        Some(number) => {
            let found: f64 = found.parse().unwrap();
            assert!((found - number).abs() < 1e-9, "{of:?}: {found}");
        }
        None => assert_eq!(found, "", "{of:?}"),
    }
}

#[track_caller]
fn assert_share(lines: &[Vec<String>], of: [&str; 5], figure: &str, share: &Value) {
    for (suffix, member) in [
        ("", "count"),
        ("_of", "of"),
        ("_share", "share"),
        ("_low", "low"),
        ("_high", "high"),
    ] {
        let figure = format!("{figure}{suffix}");
        let [report, id, name, part, threshold] = of;
        let of = [report, id, name, part, threshold, figure.as_str()];
        assert_number(lines, of, &share[member]);
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Every figure of the answer is in the file.
fn assert_in_csv(csv: &str, quality: &Value) {
    let lines = lines(csv);
    assert!(lines.iter().all(|line| line.len() == 7));
    let speed = |part: &str, speed: &Value| {
        for figure in ["p50_seconds", "p90_seconds", "p99_seconds"] {
            let of = ["time_to_decision", "", "", part, "", figure];
            assert_number(&lines, of, &speed[figure]);
        }
        let of = ["time_to_decision", "", "", part, ""];
        assert_share(&lines, of, "in_time", &speed["in_time"]);
    };
    speed("", &quality["time_to_decision"]);
    for part in quality["time_to_decision_by_severity"].as_array().unwrap() {
        speed(&text(&part["severity"]), &part["time_to_decision"]);
    }
    for person in quality["people"].as_array().unwrap() {
        let (id, name) = (text(&person["id"]), text(&person["name"]));
        for figure in ["decisions", "approved", "rejected"] {
            assert_number(
                &lines,
                ["people", &id, &name, "", "", figure],
                &person[figure],
            );
        }
        for (hour, decisions) in person["hours"].as_array().unwrap().iter().enumerate() {
            let of = [
                "people",
                &id,
                &name,
                &hour.to_string(),
                "",
                "decisions_in_hour",
            ];
            assert_number(&lines, of, decisions);
        }
        assert_share(
            &lines,
            ["people", &id, &name, "", ""],
            "golden_right",
            &person["golden"],
        );
    }
    let policy = |part: &Value| (text(&part["policy"]["id"]), text(&part["policy"]["code"]));
    let agreement = |report: &str, id: &str, name: &str, agreement: &Value| {
        for figure in ["kappa", "kappa_low", "kappa_high", "audits", "two_people"] {
            assert_number(
                &lines,
                [report, id, name, "", "", figure],
                &agreement[figure],
            );
        }
        assert_share(
            &lines,
            [report, id, name, "", ""],
            "agreed",
            &agreement["agreed"],
        );
    };
    agreement("agreement", "", "", &quality["agreement"]);
    for part in quality["agreement_by_policy"].as_array().unwrap() {
        let (id, code) = policy(part);
        agreement("agreement_by_policy", &id, &code, &part["agreement"]);
    }
    for part in quality["overturned_by_policy"].as_array().unwrap() {
        let (id, code) = policy(part);
        let of = ["overturned_by_policy", &id, &code, "", ""];
        assert_share(&lines, of, "overturned", &part["overturned"]["total"]);
        assert_share(&lines, of, "appeals", &part["overturned"]["appeals"]);
    }
    assert_share(
        &lines,
        ["golden", "", "", "", ""],
        "right",
        &quality["golden"],
    );
    assert_machine_in_csv(&lines, &quality["machine"]);
    let dangerous = |cell: &String| {
        cell.starts_with(['=', '+', '@']) || cell.starts_with('-') && cell.parse::<f64>().is_err()
    };
    assert!(!lines.iter().flatten().any(dangerous), "{csv}");
}

fn assert_machine_in_csv(lines: &[Vec<String>], machine: &Value) {
    for rule in machine["thresholds"].as_array().unwrap() {
        let (id, name) = (text(&rule["rule_id"]), text(&rule["rule_name"]));
        for point in rule["overall"]["points"].as_array().unwrap() {
            let threshold = point["threshold"].to_string();
            let of = ["thresholds", &id, &name, "", &threshold];
            assert_share(lines, of, "precision", &point["precision"]);
            assert_share(lines, of, "recall", &point["recall"]);
        }
    }
    for rule in machine["matches"].as_array().unwrap() {
        let (id, name) = (text(&rule["rule_id"]), text(&rule["rule_name"]));
        // A spreadsheet must not take it for a formula.
        let name = if name.starts_with('=') {
            format!("'{name}")
        } else {
            name
        };
        assert_share(
            lines,
            ["matches", &id, &name, "", ""],
            "rejected",
            &rule["rejected"],
        );
    }
}

#[sqlx::test(migrations = false)]
async fn every_figure_of_an_hour_is_what_the_script_says(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(jobs::REVIEWS);
    app.leaves(jobs::ANALYSIS);
    let hour = Hour::play(&app).await;
    assert!(hour.said.len() >= 400, "{}", hour.said.len());
    for site in [None, Some(0), Some(1)] {
        let query = match site {
            None => SPAN.to_owned(),
            Some(site) => format!("{SPAN}&site_id={}", hour.sites[site]),
        };
        let answer = hour.lead.get(&format!("/reviews/quality?{query}")).await;
        let quality = answer.ok();
        assert_answers("GET", "/reviews/quality", &quality);
        let expected = Expected::of(&hour, site).report();
        for (name, expected) in expected.as_object().unwrap() {
            assert_same(name, &quality[name], expected);
        }
        let file = hour
            .lead
            .get(&format!("/reviews/quality/csv?{query}"))
            .await;
        assert_eq!(file.status, 200, "{file:?}");
        assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
        assert_in_csv(&file.body, &quality);
    }
    // Nothing of another day.
    let later = "/reviews/quality?from=2026-01-16T00:00:00Z&to=2026-01-17T00:00:00Z";
    let later = hour.lead.get(later).await.ok();
    assert_eq!(later["counted"], hour.late.len());
}

#[sqlx::test(migrations = false)]
async fn only_leads_read_reports_and_only_of_their_team(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(jobs::REVIEWS);
    app.in_review("a").await;
    app.in_review("b").await;
    let (moderator, lead) = (app.moderator().await, app.member(app.tenant.team).await);
    let review = claim_one(&moderator).await;
    decide(&moderator, &review, json!({ "decision": "approve" })).await;
    app.end_holds().await;
    for path in ["/reviews/quality", "/reviews/quality/csv"] {
        moderator.get(path).await.problem(403, "missing_scope");
    }
    let own = lead.get("/reviews/quality").await.ok();
    assert_eq!(
        (&own["counted"], &own["is_complete"]),
        (&json!(1), &json!(true))
    );
    assert_eq!(own["waiting"]["by_site"][0]["backlog"]["reviews"], 1);

    let other = Tenant::create(&app.pool, "other").await;
    let stranger = app.member(other.team).await;
    let theirs = stranger.get("/reviews/quality").await.ok();
    assert_eq!(theirs["counted"], 0);
    for (place, nothing) in [
        ("people", json!([])),
        ("agreement_by_policy", json!([])),
        ("overturned_by_policy", json!([])),
        ("time_to_decision_by_severity", json!([])),
        (
            "waiting",
            json!({ "by_site": [], "by_policy": [], "is_complete": true }),
        ),
    ] {
        assert_eq!(theirs[place], nothing, "{place}");
    }
    assert_eq!(theirs["machine"]["items"], 0);
    let site = format!("/reviews/quality?site_id={}", app.tenant.site);
    stranger.get(&site).await.problem(404, "not_found");
    let operator = app.operator().await;
    operator
        .get("/reviews/quality")
        .await
        .problem(400, "invalid_request");
    for (query, field) in [
        ("from=2026-01-01T00:00:00Z&to=2026-04-03T00:00:01Z", "from"),
        ("from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "from"),
        ("to=9999-01-01T00:00:00Z", "to"),
    ] {
        let path = format!("/reviews/quality?{query}");
        lead.get(&path).await.blames("invalid_request", &[field]);
    }
}

#[sqlx::test(migrations = false)]
async fn a_lead_sees_what_everybody_has_seen_and_others_only_their_own(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(jobs::REVIEWS);
    let (one, two) = (app.moderator().await, app.moderator().await);
    let lead = app.member(app.tenant.team).await;
    for (person, decisions, pictures) in [(&one, 3, 2), (&two, 1, 0)] {
        for _ in 0..decisions {
            app.in_review("a").await;
            let review = claim_one(person).await;
            let unveil = format!("/reviews/{review}/unveil");
            if pictures > 0 {
                person.post(&unveil, json!({})).await.done();
            }
            decide(person, &review, json!({ "decision": "approve" })).await;
        }
    }
    app.end_holds().await;
    let all = lead.get("/reviews/exposure").await.ok();
    assert_answers("GET", "/reviews/exposure", &all);
    let find = |answer: &Value, id: &str| {
        let rows = answer["data"].as_array().unwrap().clone();
        let mine: Vec<_> = rows.into_iter().filter(|row| row["id"] == id).collect();
        (
            mine.iter()
                .map(|row| row["decided"].as_i64().unwrap())
                .sum::<i64>(),
            mine.iter()
                .map(|row| row["unveiled"].as_i64().unwrap())
                .sum::<i64>(),
        )
    };
    let (first, second) = (one.id().await, two.id().await);
    assert_eq!(find(&all, &first), (3, 3));
    assert_eq!(find(&all, &second), (1, 0));
    let own = two.get("/reviews/exposure").await.ok();
    assert_eq!(find(&own, &second), (1, 0));
    assert_eq!(find(&own, &first), (0, 0));
    let other = Tenant::create(&app.pool, "other").await;
    let stranger = app.member(other.team).await.get("/reviews/exposure").await;
    assert_eq!(stranger.ok()["data"], json!([]));
    let past = "/reviews/exposure?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z";
    assert_eq!(lead.get(past).await.ok()["data"], json!([]));
}
