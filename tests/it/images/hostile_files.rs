//! All files that are not what they seem, inline and by URL, all at once, beside pictures that take
//! a lot of memory.

use std::{collections::HashMap, sync::Arc};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{
    PATIENCE,
    files::{Case, cases, greedy},
    problem,
};
use crate::support::{Act, Api, ScriptedServer, Worker, eventually, gatehouse, site_key};

const MIB: u64 = 1 << 20;
/// The memory of an idle worker, in a build without optimisation.
const AT_REST: u64 = 100 * MIB;
/// The memory that all pictures may take together, and two copies of the files in progress: as
/// received, and on the way to Postgres.
const BOUND: u64 = AT_REST + (256 + 2 * 60) * MIB;
/// Pictures of 48 MB of pixels: twice as many as fit into the memory.
const GREEDY: usize = 12;

/// Submits a file. Returns the item's id, or the code of the refusal.
async fn submit(api: &Api, fields: &Value) -> Result<String, String> {
    let (status, answer) = api.post("submit-media", None, fields).await.unwrap();
    let text = |name: &str| answer[name].as_str().unwrap().to_owned();
    match status {
        200 => Ok(text("id")),
        400 => Err(text("code")),
        other => panic!("{other}: {answer}"),
    }
}

/// The status and the reason of an item, as soon as it is decided.
pub(super) async fn verdict(pool: &PgPool, media: &str) -> (String, String) {
    eventually("a verdict", PATIENCE, async || {
        sqlx::query_as(
            "select m.status, coalesce(v.details ->> 'reason', '')
             from media m join verdicts v on v.media_id = m.id and v.number = m.verdict
             where m.id = $1::text::uuid",
        )
        .bind(media)
        .fetch_optional(pool)
        .await
        .unwrap()
    })
    .await
}

#[sqlx::test(migrations = false)]
async fn case_34_files_that_are_not_what_they_seem_are_refused_or_reviewed_within_bounded_memory(
    pool: PgPool,
) {
    let key = site_key(&pool);
    let cases: Arc<[Case]> = cases().into();
    let greedy = greedy();
    let (files, large) = (Arc::clone(&cases), greedy.clone());
    let gallery = ScriptedServer::start(move |path, _| {
        let name = path.trim_start_matches('/');
        match files.iter().find(|case| case.name == name) {
            Some(case) => Act::file(case.declared, case.file.clone()),
            None => Act::file("image/png", large.clone()),
        }
    })
    .await;
    let api = Api::start(&pool).await;
    let mut command = gatehouse(&pool);
    command.env("GATEHOUSE_EGRESS_ALLOW", gallery.allowed());
    let worker = Worker::launch(command).await;

    let mut expected = HashMap::new();
    for n in 0..GREEDY {
        let fields = json!({ "api_key": key, "content_url": gallery.url(&format!("/greedy-{n}")) });
        let media = submit(&api, &fields).await.unwrap();
        expected.insert(media, ("greedy", None));
    }
    for case in &*cases {
        let fields =
            json!({ "api_key": key, "content_url": gallery.url(&format!("/{}", case.name)) });
        let media = submit(&api, &fields).await.unwrap();
        expected.insert(media, (case.name.as_str(), case.problem));
        // With a wrong media type, where a media type can be given.
        let inline = format!(
            "data:image/webp;base64,{}",
            BASE64_STANDARD.encode(&case.file)
        );
        let answer = submit(&api, &json!({ "api_key": key, "content_base64": inline })).await;
        match (answer, case.refused) {
            (Ok(media), None) => {
                expected.insert(media, (case.name.as_str(), case.problem));
            }
            (Err(code), Some(expected)) => assert_eq!(code, expected, "{}", case.name),
            (answer, _) if case.file.is_empty() => {
                // An empty file counts as no content, or as no image.
                answer.unwrap_err();
            }
            (answer, _) => panic!("{}: {answer:?}", case.name),
        }
    }
    for (media, (name, expected)) in expected {
        let (status, reason) = verdict(&pool, &media).await;
        assert_eq!(status, "pending_review", "{name}: {reason}");
        assert_eq!(problem(&reason), expected, "{name}: {reason}");
    }
    let most = worker.most_memory();
    println!("the worker held {} MiB at most", most / MIB);
    assert!(most < BOUND, "{} MiB", most / MIB);
}
