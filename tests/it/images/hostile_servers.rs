//! Images by URL from a server that is slow, wrong and hostile at random.

use std::{sync::Arc, time::Duration};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::json;
use sqlx::PgPool;
use tokio::time::sleep;

use super::{NOT_FETCHED, TOO_LARGE, UNDECODABLE, UNSUPPORTED, hostile_files::verdict, problem};
use crate::support::{Act, Api, ScriptedServer, Worker, gatehouse, picture, site_key};

const SEED: u64 = 34;

/// How the server treats one of its images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Good,
    Slow,
    Redirecting,
    BusyAtFirst,
    BrokenAtFirst,
    SilentAtFirst,
    Missing,
    Busy,
    Broken,
    Silent,
    Looping,
    ToMetadata,
    ToPort,
    Compressed,
    Huge,
    Endless,
    Page,
    Half,
    Bomb,
}

use Manner::{
    Bomb, Broken, BrokenAtFirst, Busy, BusyAtFirst, Compressed, Endless, Good, Half, Huge, Looping,
    Missing, Page, Redirecting, Silent, SilentAtFirst, Slow, ToMetadata, ToPort,
};

/// The manners that end within a minute.
const QUICK: [Manner; 18] = [
    Good,
    Slow,
    Redirecting,
    BusyAtFirst,
    BrokenAtFirst,
    SilentAtFirst,
    Missing,
    Busy,
    Broken,
    Looping,
    ToMetadata,
    ToPort,
    Compressed,
    Huge,
    Endless,
    Page,
    Half,
    Bomb,
];

impl Manner {
    /// The problem in the reason. `None` if the image was examined.
    fn problem(self) -> Option<&'static str> {
        match self {
            Good | Slow | Redirecting | BusyAtFirst | BrokenAtFirst | SilentAtFirst => None,
            Missing | Busy | Broken | Silent | Looping | ToMetadata | ToPort | Compressed => {
                Some(NOT_FETCHED)
            }
            Huge | Endless | Bomb => Some(TOO_LARGE),
            Page => Some(UNSUPPORTED),
            Half => Some(UNDECODABLE),
        }
    }

    /// How often the image is requested. `None` for redirects, which lead elsewhere.
    fn asked(self) -> Option<usize> {
        match self {
            BusyAtFirst | BrokenAtFirst | SilentAtFirst => Some(2),
            Busy | Broken | Silent => Some(5),
            Redirecting => None,
            Looping => Some(4),
            Good | Slow | Missing | ToMetadata | ToPort | Compressed | Huge | Endless | Page
            | Half | Bomb => Some(1),
        }
    }

    fn act(self, path: &str, asked: usize) -> Act {
        let good = || Act::file("image/jpeg", picture("baseline.jpg"));
        match self {
            Redirecting if !path.ends_with("/there") => {
                Act::head(&format!("307 There\r\nLocation: {path}/there"))
            }
            BusyAtFirst if asked == 1 => Act::head("429 Slow down\r\nRetry-After: 1"),
            BrokenAtFirst if asked == 1 => Act::BreakOff(picture("baseline.jpg")),
            SilentAtFirst if asked == 1 => Act::Hang,
            Good | Redirecting | BusyAtFirst | BrokenAtFirst | SilentAtFirst => good(),
            Slow => Act::Drip(picture("plain.gif")),
            Missing => Act::head("404 Not Found"),
            Busy => Act::head("503 Busy"),
            Broken => Act::BreakOff(picture("plain.png")),
            Silent => Act::Hang,
            Looping => Act::head(&format!("302 Again\r\nLocation: {path}")),
            ToMetadata => Act::head("302 Found\r\nLocation: http://169.254.169.254/latest/"),
            ToPort => Act::head("302 Found\r\nLocation: http://127.0.0.1:22/"),
            Compressed => Act::Answer(
                "200 OK\r\nContent-Encoding: gzip".to_owned(),
                picture("plain.png"),
            ),
            Huge => Act::file("image/png", vec![0; (10 << 20) + 1]),
            Endless => Act::Endless,
            Page => Act::file("image/jpeg", b"<html>not found</html>".to_vec()),
            Half => {
                let file = picture("restarts.jpg");
                Act::file("image/jpeg", file[..file.len() - 100].to_vec())
            }
            Bomb => Act::file("image/png", super::files::png_of(50_000, 50_000)),
        }
    }
}

/// Submits this many images. The server treats each of them in a manner that chance picks.
async fn treat(pool: &PgPool, images: usize, manners: &'static [Manner]) {
    let key = site_key(pool);
    let mut chance = StdRng::seed_from_u64(SEED);
    let drawn: Arc<[Manner]> = (0..images)
        .map(|_| manners[chance.random_range(0..manners.len())])
        .collect();
    let served = Arc::clone(&drawn);
    let gallery = ScriptedServer::start(move |path, asked| {
        let number = path.split('/').nth(1).unwrap();
        let number: usize = number.parse().unwrap();
        served[number].act(path, asked)
    })
    .await;
    let api = Api::start(pool).await;
    let workers = [(); 2].map(|()| {
        let mut command = gatehouse(pool);
        command.env("GATEHOUSE_EGRESS_ALLOW", gallery.allowed());
        Worker::launch(command)
    });
    let _workers = futures::future::join_all(workers).await;

    let mut items = Vec::new();
    for (number, manner) in drawn.iter().enumerate() {
        let path = format!("/{number}");
        let fields = json!({ "api_key": key, "content_url": gallery.url(&path) });
        let media = loop {
            let (status, answer) = api.post("submit-media", None, &fields).await.unwrap();
            if status == 200 {
                break answer["id"].as_str().unwrap().to_owned();
            }
            assert_eq!(status, 429, "{answer}");
            sleep(Duration::from_secs(1)).await;
        };
        items.push((path, *manner, media));
    }
    for (path, manner, media) in items {
        let (status, reason) = verdict(pool, &media).await;
        assert_eq!(status, "pending_review", "{manner:?}: {reason}");
        assert_eq!(problem(&reason), manner.problem(), "{manner:?}: {reason}");
        if let Some(asked) = manner.asked() {
            assert_eq!(gallery.asked(&path), asked, "{manner:?}");
        }
    }
    let left: i64 = sqlx::query_scalar(
        "select (select count(*) from queue.jobs) + (select count(*) from queue.dead_jobs)",
    )
    .fetch_one(pool)
    .await
    .unwrap();
    assert_eq!(left, 0, "jobs are left, or died");
}

#[sqlx::test(migrations = false)]
async fn case_24_images_of_a_server_that_is_hostile_at_random_end_in_the_right_verdict(
    pool: PgPool,
) {
    treat(&pool, 60, &QUICK).await;
}

#[sqlx::test(migrations = false)]
#[ignore = "takes minutes: some servers are silent, five times"]
async fn case_24_a_thousand_images_of_such_a_server_do(pool: PgPool) {
    const ALL: [Manner; 19] = {
        let mut all = [Silent; 19];
        let mut at = 0;
        while at < QUICK.len() {
            all[at] = QUICK[at];
            at += 1;
        }
        all
    };
    treat(&pool, 1_000, &ALL).await;
}
