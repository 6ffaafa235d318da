//! Everything that is stored about an author is erased from a running service, and the commands tell whether that is so.

use std::{fs, process::Command, time::Duration};

use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{DataDir, Receiver, SOON, Up, eventually, gatehouse};

/// For thousands of items.
const LATE: Duration = Duration::from_mins(10);

/// Items' author is in their metadata.
async fn name_authors(up: &Up) {
    let path = format!("/sites/{}", up.demo().site_id);
    let (code, site) = up
        .patch(&path, &json!({ "author_pointer": "/user/id" }))
        .await;
    assert_eq!(code, 200, "{site}");
}

async fn erase(up: &Up, wanted: &Value) -> Value {
    let (code, begun) = up.manage("/erasures", wanted).await;
    assert_eq!(code, 202, "{begun}");
    let path = format!("/erasures/{}", begun["id"].as_str().unwrap());
    eventually("the erasure has ended", SOON, async || {
        let (_, erasure) = up.look(&path).await;
        (erasure["state"] != "running").then_some(erasure)
    })
    .await
}

/// What the command prints, and whether its exit code is 0.
pub(crate) fn command(mut command: Command, arguments: &[&str]) -> (bool, String) {
    let output = command
        .args(arguments)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .output()
        .unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(printed).unwrap())
}

#[sqlx::test(migrations = false)]
async fn an_author_is_erased_and_the_certificate_says_so(pool: PgPool) {
    let receiver = Receiver::start().await;
    let database = pool.connect_options().to_url_lossy().to_string();
    let data = DataDir::new();
    let arguments = [
        "--database-url",
        &database,
        "--webhook-url",
        &receiver.url(),
    ];
    let up = Up::start(&data, &arguments).await;
    name_authors(&up).await;
    let item = |author: &str, body: &str| {
        json!({
            "body": format!("{body}, says {author}"),
            "app_media_id": format!("post by {author}"),
            "metadata": { "user": { "id": author } },
        })
    };
    let (mut of_anna, mut statuses) = (Vec::new(), Vec::new());
    for body in [
        "hello",
        "you are an idiot",
        "see review-2024 for the details",
    ] {
        let media = up.submit(item("anna-4711", body)).await;
        statuses.push(up.verdict(&media).await["status"].clone());
        of_anna.push(media);
    }
    let of_bert = up.submit(item("bert-0815", "hello")).await;
    up.verdict(&of_bert).await;
    let (code, note) = up
        .manage(
            &format!("/media/{}/notes", of_anna[0]),
            &json!({ "text": "anna-4711 again" }),
        )
        .await;
    assert_eq!(code, 200, "{note}");
    eventually("all is told", SOON, async || {
        (receiver.received().len() >= 8).then_some(())
    })
    .await;

    let texts = data.path().join("texts");
    fs::write(&texts, "anna-4711\npost by anna\n").unwrap();
    let verify = ["erasure", "verify", "--texts", texts.to_str().unwrap()];
    let (clean, printed) = command(gatehouse(&pool), &verify);
    assert!(!clean, "{printed}");
    for column in ["media.body", "media.author", "review_notes.body"] {
        assert!(
            printed.contains(&format!("found: public.{column}, rows:")),
            "{printed}"
        );
    }

    let erased = erase(&up, &json!({ "author": "anna-4711" })).await;
    assert_eq!(erased["state"], "finished", "{erased}");
    assert_eq!(erased["counts"]["items"], 3, "{erased}");
    assert!(!erased.to_string().contains("anna"), "{erased}");
    let (clean, printed) = command(gatehouse(&pool), &verify);
    assert!(clean, "{printed}");
    assert!(printed.contains("nothing found"), "{printed}");
    // A leak would be found.
    sqlx::raw_sql("create table own (text text); insert into own values ('from anna-4711')")
        .execute(&pool)
        .await
        .unwrap();
    let (clean, printed) = command(gatehouse(&pool), &verify);
    assert!(
        !clean && printed.contains("found: public.own.text, rows: 1"),
        "{printed}"
    );

    // What is left.
    for (media, before) in of_anna.iter().zip(&statuses) {
        let status = up.status(media).await;
        assert_eq!(&status["status"], before, "{status}");
        assert_eq!(status["metadata"], Value::Null, "{status}");
    }
    let (code, left) = up.look(&format!("/media/{}", of_anna[0])).await;
    assert_eq!(code, 200, "{left}");
    assert!(left["content_removed_at"].is_string(), "{left}");
    let (_, other) = up.look(&format!("/media/{of_bert}")).await;
    assert_eq!(other["author"], "bert-0815", "{other}");
    // Nobody decides about what is gone.
    let decision = json!({ "decision": "reject", "reason": "No." });
    let (code, refused) = up
        .manage(&format!("/media/{}/decision", of_anna[0]), &decision)
        .await;
    assert_eq!(code, 404, "{refused}");
    assert_eq!(receiver.received().len(), 8);

    let (jws, subject, items) = (
        data.path().join("jws"),
        data.path().join("subject"),
        data.path().join("items"),
    );
    let certificate = erased["certificate"].as_str().unwrap();
    fs::write(&jws, certificate).unwrap();
    fs::write(&subject, r#"{"author":"anna-4711"}"#).unwrap();
    of_anna.sort_unstable();
    fs::write(&items, of_anna.join("\n")).unwrap();
    let (code, key) = up.look("/erasures/signing-key").await;
    assert_eq!(code, 200, "{key}");
    let mut check = vec!["erasure", "check-certificate", jws.to_str().unwrap()];
    check.extend(["--subject", subject.to_str().unwrap()]);
    check.extend(["--items", items.to_str().unwrap()]);
    let (valid, printed) = command(gatehouse(&pool), &check);
    assert!(
        valid && printed.contains("the signature is valid"),
        "{printed}"
    );
    let with_key = [&check[..], &["--public-key", key["x"].as_str().unwrap()]].concat();
    let mut without_database = gatehouse(&pool);
    without_database.env("DATABASE_URL", "postgres://nowhere.invalid/none");
    assert!(command(without_database, &with_key).0);
    fs::write(&subject, r#"{"author":"bert-0815"}"#).unwrap();
    let (valid, printed) = command(gatehouse(&pool), &check);
    assert!(
        !valid && printed.contains("the subject is not the one"),
        "{printed}"
    );
    let changed = certificate.replacen("eyJ", "eyK", 2);
    fs::write(&jws, changed).unwrap();
    assert!(!command(gatehouse(&pool), &check[..3]).0);
}

/// An author's items in a database with others', each with a verdict, an analysis, an image, an event and a note. They are an hour old.
pub(crate) async fn fill(pool: &PgPool, site: &str, author: &str, items: i64) {
    let statements = format!(
        r#"
        create temporary table made as
        select
            (lpad(to_hex((extract(epoch from now() - interval '1 hour') * 1000)::bigint + n), 12, '0') || '7'
                || substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15))::uuid as id,
            n
        from generate_series(1, {items}) n;
        insert into media
            (id, team_id, site_id, status, content_type, body, metadata, author, app_media_id, group_versions, verdict, created_at)
        select
            m.id, s.team_id, s.id, 'approved', 'text', 'text ' || m.n || ' by {author}',
            json_build_object('user', json_build_object('id', '{author}')), '{author}', '{author} ' || m.n, '{{}}', 1,
            now() - interval '1 hour'
        from made m cross join sites s where s.id = '{site}';
        insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace)
        select
            id, 1, 'approved', 'pending', 'ai',
            '{{"rule_violations":[{{"rule_name":"r","matched_text":"{author}"}}],"reason":"{author}"}}', '{{"unchecked":[]}}'
        from made;
        insert into analyses (media_id, scores, providers, unchecked)
        select id, '{{}}', '[{{"provider":"a","raw":"{author}","scores":{{}}}}]', '[]' from made;
        insert into media_images (media_id, site_id, format, bytes) select id, '{site}', 'png', '{author}' from made;
        insert into events (id, media_id, site_id, kind) select id, id, '{site}', 'media.created' from made;
        insert into review_notes (id, media_id, team_id, actor_id, body) select id, id, '{site}', '{site}', 'by {author}' from made;
        drop table made;
        "#
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(statements))
        .execute(pool)
        .await
        .unwrap();
}

/// Everything that is stored about an author, as one number.
pub(crate) async fn all_of(pool: &PgPool, author: &str) -> String {
    sqlx::query_scalar(
        "select md5(string_agg(concat(m::text, v::text, a::text, i::text, n::text), '|' order by m.id))
         from media m
         join verdicts v on v.media_id = m.id
         join analyses a on a.media_id = m.id
         join media_images i on i.media_id = m.id
         join review_notes n on n.media_id = m.id
         join events e on e.media_id = m.id
         where m.author = $1",
    )
    .bind(author)
    .fetch_one(pool)
    .await
    .unwrap()
}

/// Erases an author's items while others submit, and kills the service again and again.
async fn erases_under_load_and_kills(pool: &PgPool, items: i64, kills: i64) {
    let database = pool.connect_options().to_url_lossy().to_string();
    let data = DataDir::new();
    let options = ["--database-url", &database, "--lease-seconds", "2"];
    let mut up = Up::start(&data, &options).await;
    let site = up.demo().site_id.clone();
    fill(pool, &site, "bert-0815", 500).await;
    fill(pool, &site, "anna-4711", items).await;
    let others = all_of(pool, "bert-0815").await;
    let (code, begun) = up
        .manage("/erasures", &json!({ "author": "anna-4711" }))
        .await;
    assert_eq!(code, 202, "{begun}");
    let erased = async || -> i64 {
        sqlx::query_scalar("select count(*) from media where erased_at is not null")
            .fetch_one(pool)
            .await
            .unwrap()
    };
    let mut submitted = Vec::new();
    for kill in 1..=kills {
        eventually("some are erased", SOON, async || {
            submitted.push(up.submit(json!({ "body": "hello" })).await);
            (erased().await >= items * kill / (kills + 1)).then_some(())
        })
        .await;
        up.kill();
        up = Up::start(&data, &options).await;
    }
    let path = format!("/erasures/{}", begun["id"].as_str().unwrap());
    let ended = eventually("the erasure has ended", LATE, async || {
        submitted.push(up.submit(json!({ "body": "hello" })).await);
        let (_, erasure) = up.look(&path).await;
        (erasure["state"] != "running").then_some(erasure)
    })
    .await;
    assert_eq!(ended["state"], "finished", "{ended}");
    for counted in ["items", "images", "analyses", "verdicts", "notes", "events"] {
        assert_eq!(ended["counts"][counted], items, "{counted}: {ended}");
    }
    let texts = data.path().join("texts");
    fs::write(&texts, "anna-4711").unwrap();
    let verify = ["erasure", "verify", "--texts", texts.to_str().unwrap()];
    let (clean, printed) = command(gatehouse(pool), &verify);
    assert!(clean, "{printed}");
    assert_eq!(all_of(pool, "bert-0815").await, others);
    for media in &submitted {
        assert_eq!(up.verdict(media).await["status"], "approved");
    }
}

#[sqlx::test(migrations = false)]
async fn case_89_an_erasure_goes_on_after_every_kill(pool: PgPool) {
    erases_under_load_and_kills(&pool, 5_000, 2).await;
}

#[sqlx::test(migrations = false)]
#[ignore = "takes minutes"]
async fn case_89_fifty_thousand_items_are_erased_although_the_service_is_killed_five_times(
    pool: PgPool,
) {
    erases_under_load_and_kills(&pool, 50_000, 5).await;
}
