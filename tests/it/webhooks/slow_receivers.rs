//! Receivers that accept a connection and then hang, or answer slowly, or answer too much. An
//! attempt ends at its deadline, little of an answer is kept, and the worker needs no additional
//! memory.

use std::time::Duration;

use domain::webhook::{ATTEMPT_DEADLINE, KEPT_ANSWER_BYTES};
use sqlx::PgPool;

use super::{Endpoints, First};
use crate::support::{Act, SOON, ScriptedServer};

/// 64 MiB, compressed to 64 KiB.
const BOMB: &[u8] = include_bytes!("../../fixtures/bomb.gz");

const GIGABYTE: usize = 1 << 30;
/// The most memory of the worker while all of them are active.
const MORE_MEMORY: u64 = 32 << 20;

const FLOODS: [&str; 4] = ["/endless", "/gigabyte", "/bomb", "/gigabyte-503"];
const STALLS: [&str; 3] = ["/silence", "/trickling-head", "/trickling-body"];

#[sqlx::test(migrations = false)]
async fn case_20_rude_receivers_cost_their_deadline_and_no_memory(pool: PgPool) {
    let server = ScriptedServer::start(|path, _| match path {
        "/silence" => Act::Hang,
        "/trickling-head" => Act::Trickle(b"HTTP/1.1 200 OK\r\nX-Patience: please wait"),
        "/trickling-body" => Act::Trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"),
        "/endless" => Act::Endless,
        "/gigabyte" => Act::Flood("200 OK", GIGABYTE),
        "/gigabyte-503" => Act::Flood("503 Busy", GIGABYTE),
        "/bomb" => Act::Answer(
            "500 Oops\r\nContent-Encoding: gzip".to_owned(),
            BOMB.to_vec(),
        ),
        _ => Act::head("200 OK"),
    })
    .await;
    let paths = [&FLOODS[..], &STALLS, &["/well"]].concat();
    let service = Endpoints::start(pool, &server, &paths).await;
    // Most endpoints fail until the end.
    service.worker.leaves_jobs();
    let before = service.worker.most_memory();
    service.submit().await;
    let firsts = service.firsts(paths.len(), SOON).await;
    let of = |path: &str| -> &First {
        let first = firsts.iter().find(|first| first.url.ends_with(path));
        first.unwrap()
    };

    for path in STALLS {
        let first = of(path);
        assert_eq!(first.outcome, "timeout", "{first:?}");
        assert_eq!((first.status_code, &first.response_body), (None, &None));
        let took = Duration::from_millis(first.duration_ms.try_into().unwrap());
        assert!(
            took >= ATTEMPT_DEADLINE && took < 2 * ATTEMPT_DEADLINE,
            "{first:?}"
        );
    }
    for path in FLOODS {
        let first = of(path);
        let failed = matches!(path, "/gigabyte-503" | "/bomb");
        let outcome = if failed { "status" } else { "delivered" };
        assert_eq!(first.outcome, outcome, "{path}");
        let kept = first.response_body.as_deref();
        let expected = failed.then_some(KEPT_ANSWER_BYTES);
        assert_eq!(kept.map(<[u8]>::len), expected, "{path}");
        if path == "/bomb" {
            assert!(BOMB.starts_with(kept.unwrap()), "it was unpacked");
        }
    }
    assert_eq!(of("/well").state, "delivered");
    let more = service.worker.most_memory() - before;
    assert!(more < MORE_MEMORY, "{more} bytes");
}
