//! `gatehouse admin` about people: from an invitation to the way back of somebody who has lost the
//! second factor.

use std::process::Stdio;

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::{gatehouse, run};

fn made(pool: &PgPool, arguments: &[&str]) -> Value {
    let output = run(pool, &[&["admin", "--json"], arguments].concat());
    serde_json::from_slice(&output).unwrap()
}

/// What a command that is refused says.
fn refused(pool: &PgPool, arguments: &[&str]) -> String {
    let output = gatehouse(pool)
        .arg("admin")
        .args(arguments)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

async fn count(pool: &PgPool, statement: &'static str) -> i64 {
    sqlx::query_scalar(statement).fetch_one(pool).await.unwrap()
}

/// Accepts the invitations as the console will: a person with a second factor and two sessions.
async fn join(pool: &PgPool, email: &str) {
    for statement in [
        "insert into users (id, email, name, password_hash) values (gen_random_uuid(), $1, 'Ada', 'no hash')",
        "insert into memberships (id, user_id, team_id, role)
         select gen_random_uuid(), u.id, l.team_id, l.role from users u join links l on l.email = u.email where u.email = $1",
        "insert into factors (user_id, secret, confirmed_at) select id, 'sealed', now() from users where email = $1",
        "insert into recovery_codes (user_id, hash) select id, 'hash' from users where email = $1",
        "insert into sessions (id, user_id, hash, address, user_agent, factor_at)
         select gen_random_uuid(), id, sha256(n::text::bytea), '', '', now()
         from users, generate_series(1, 2) n where email = $1",
        "delete from links where email = $1",
    ] {
        sqlx::query(statement)
            .bind(email)
            .execute(pool)
            .await
            .unwrap();
    }
}

#[sqlx::test(migrations = false)]
async fn the_command_line_invites_people_and_gives_them_a_way_back(pool: PgPool) {
    run(&pool, &["migrate"]);
    let team = made(&pool, &["create-team", "--name", "first"]);
    let team = team["team_id"].as_str().unwrap();
    let other = made(&pool, &["create-team", "--name", "second"]);
    let other = other["team_id"].as_str().unwrap();
    let invite = |role: &str, team: &str| {
        let arguments = ["create-user", "--email", "Ada@Example.com", "--role", role];
        made(&pool, &[&arguments[..], &["--team", team]].concat())
    };
    let invited = invite("owner", team);
    assert_eq!(invited["email"], "ada@example.com");
    let link = invited["link"].as_str().unwrap();
    assert!(
        link.starts_with("http://127.0.0.1:8081/links/link_"),
        "{link}"
    );
    assert!(invited["expires_at"].is_string());
    invite("viewer", other);
    let listed = made(&pool, &["list-users"]);
    assert_eq!(listed, json!({ "users": [] }), "an invitation is no person");

    join(&pool, "ada@example.com").await;
    let listed = made(&pool, &["list-users"]);
    assert_eq!(listed["users"].as_array().unwrap().len(), 2);
    let listed = made(&pool, &["list-users", "--team", team]);
    let ada = &listed["users"][0];
    assert_eq!(
        [
            &ada["email"],
            &ada["role"],
            &ada["has_factor"],
            &ada["disabled_at"]
        ],
        [
            &json!("ada@example.com"),
            &json!("owner"),
            &json!(true),
            &json!(null)
        ]
    );
    let again = [
        "create-user",
        "--email",
        "ada@example.com",
        "--role",
        "lead",
    ];
    let again = refused(&pool, &[&again[..], &["--team", team]].concat());
    assert!(again.contains("is in the team already"), "{again}");

    // A new password does not touch the factor, and removing the factor ends all sessions.
    let email = ["--email", "ada@example.com"];
    let reset = made(&pool, &[&["reset-password"][..], &email].concat());
    let link = reset["link"].as_str().unwrap();
    assert!(
        link.starts_with("http://127.0.0.1:8081/links/link_"),
        "{link}"
    );
    let public = ["--public-url", "https://desk.example/"];
    let reset = made(&pool, &[&["reset-password"][..], &email, &public].concat());
    let link = reset["link"].as_str().unwrap();
    assert!(
        link.starts_with("https://desk.example/links/link_"),
        "{link}"
    );
    assert_eq!(count(&pool, "select count(*) from factors").await, 1);
    assert_eq!(count(&pool, "select count(*) from sessions").await, 2);
    let remove = [&["remove-factor"][..], &email].concat();
    assert_eq!(
        made(&pool, &remove),
        json!({
            "email": "ada@example.com", "had_factor": true, "ended_sessions": 2, "ended_identities": 0,
            "ended_recovery_codes": 1, "ended_links": 1, "must_set_up": true,
        })
    );
    for table in [
        "select count(*) from factors",
        "select count(*) from recovery_codes",
        "select count(*) from sessions",
    ] {
        assert_eq!(count(&pool, table).await, 0, "{table}");
    }
    let listed = made(&pool, &["list-users", "--team", team]);
    assert_eq!(listed["users"][0]["has_factor"], json!(false));
    // Again, there is nothing to do, and nothing is recorded.
    assert_eq!(made(&pool, &remove)["had_factor"], json!(false));

    // Both teams know of both links.
    let recorded: Vec<(String, String, Value)> = sqlx::query_as(
        "select a.action, t.name, a.details from audit_log a join teams t on t.id = a.team_id
         where a.actor = 'command_line' and a.action in ('factor.delete', 'password_reset.create') order by a.action, t.name",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let removed = json!({
        "email": "ada@example.com", "ended_sessions": 2, "ended_identities": 0, "ended_recovery_codes": 1,
        "ended_links": 1,
    });
    let reset = json!({ "email": "ada@example.com" });
    let row =
        |action: &str, team: &str, details: Value| (action.to_owned(), team.to_owned(), details);
    assert_eq!(
        recorded,
        [
            row("factor.delete", "first", removed.clone()),
            row("factor.delete", "second", removed),
            row("password_reset.create", "first", reset.clone()),
            row("password_reset.create", "first", reset.clone()),
            row("password_reset.create", "second", reset.clone()),
            row("password_reset.create", "second", reset),
        ]
    );
    let printed = run(&pool, &[&["admin"][..], &remove].concat());
    let printed = String::from_utf8(printed).unwrap();
    let ended = printed.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words == ["ended_sessions", "0"]
    });
    assert!(ended, "{printed}");
}

#[sqlx::test(migrations = false)]
async fn a_person_who_does_not_exist_is_refused_in_one_line(pool: PgPool) {
    run(&pool, &["migrate"]);
    for command in ["reset-password", "remove-factor", "hand-over"] {
        let told = refused(&pool, &[command, "--email", "nobody@example.com"]);
        assert!(told.contains("There is no such person."), "{told}");
        let told = refused(&pool, &[command, "--email", "nobody"]);
        assert!(told.contains("must be an e-mail address"), "{told}");
    }
    let told = refused(
        &pool,
        &["create-user", "--email", "a@b.c", "--role", "owner"],
    );
    assert!(told.contains("must be operator without a team"), "{told}");
    assert_eq!(count(&pool, "select count(*) from links").await, 0);
    assert_eq!(count(&pool, "select count(*) from audit_log").await, 0);
}

#[sqlx::test(migrations = false)]
async fn one_command_hands_an_account_over(pool: PgPool) {
    run(&pool, &["migrate"]);
    let team = made(&pool, &["create-team", "--name", "first"]);
    let team = team["team_id"].as_str().unwrap();
    let email = ["--email", "ada@example.com"];
    let invite = [
        &["create-user", "--role", "owner", "--team", team][..],
        &email,
    ];
    made(&pool, &invite.concat());
    join(&pool, "ada@example.com").await;
    for statement in [
        "insert into identities (issuer, subject, user_id) select 'https://a.example', 'eve', id from users",
        "insert into management_tokens (id, team_id, hash, hint, scopes, creator, created_by)
         select gen_random_uuid(), m.team_id, 'hash', '', '{}', 'member', m.id from memberships m",
    ] {
        sqlx::query(statement).execute(&pool).await.unwrap();
    }
    let public = ["--public-url", "https://desk.example/"];
    let mut done = made(&pool, &[&["hand-over"][..], &email, &public].concat());
    let done = done.as_object_mut().unwrap();
    let link = done.remove("link").unwrap();
    let link = link.as_str().unwrap();
    assert!(
        link.starts_with("https://desk.example/links/link_"),
        "{link}"
    );
    assert!(done.remove("expires_at").unwrap().is_string());
    assert_eq!(
        Value::Object(done.clone()),
        json!({
            "email": "ada@example.com", "had_factor": true, "ended_sessions": 2, "ended_identities": 1,
            "ended_recovery_codes": 1, "ended_links": 0, "tokens": 1,
        })
    );
    for statement in [
        "select count(*) from factors",
        "select count(*) from recovery_codes",
        "select count(*) from sessions",
        "select count(*) from identities",
        "select count(*) from users where has_password or password_hash = 'no hash'",
    ] {
        assert_eq!(count(&pool, statement).await, 0, "{statement}");
    }
    let told =
        "select count(*) from audit_log where action = 'account.hand_over' and team_id is not null";
    assert_eq!(count(&pool, told).await, 1);
    assert_eq!(
        count(&pool, "select count(*) from links where kind = 'reset'").await,
        1
    );
}
