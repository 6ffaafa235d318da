//! Failures between the client and the service, which pass or do not.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use gatehouse_client::{Action, Error, Gatehouse, PolledStatus};
use http::Response;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Body, Demo, Received, broken, forbidden, serve, whole};

/// What happens to a request.
#[derive(Clone, Copy)]
enum Fate {
    /// The service answers it.
    Answered,
    /// The connection breaks after the service has answered.
    AnswerLost,
    /// The answer breaks after its first half.
    AnswerBroken,
    /// It does not reach the service: the answer has this status, and asks for a pause of so many
    /// seconds.
    Refused(u16, Option<u64>),
    /// The answer is this one instead.
    Instead(&'static str),
}

/// What a server between the client and the service has seen.
#[derive(Default)]
struct Seen {
    /// The requests, and when they arrived.
    requests: Vec<(Received, Instant)>,
    /// The ids in the service's answers, lost ones too.
    ids: Vec<Uuid>,
}

impl Seen {
    /// A header of each request.
    fn headers(&self, name: &str) -> Vec<Option<&str>> {
        let requests = self.requests.iter();
        requests
            .map(|(request, _)| Some(request.headers.get(name)?.to_str().unwrap()))
            .collect()
    }
}

/// A client whose requests have these fates, one after the other. The last one is that of all others.
async fn client(demo: &Demo, fates: &'static [Fate]) -> (Gatehouse, Arc<Mutex<Seen>>) {
    let seen = Arc::new(Mutex::new(Seen::default()));
    // A client of reqwest asks for it, though it speaks HTTP here.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (http, url) = (reqwest::Client::new(), demo.url().to_owned());
    let shared = Arc::clone(&seen);
    let port = serve(0, move |received| {
        let fate = {
            let mut seen = shared.lock().unwrap();
            seen.requests.push((received.clone(), Instant::now()));
            fates[seen.requests.len().min(fates.len()) - 1]
        };
        let (http, url, seen) = (http.clone(), url.clone(), Arc::clone(&shared));
        async move { answer(fate, received, &http, &url, &seen).await }
    });
    let url = format!("http://127.0.0.1:{}/", port.await);
    (Gatehouse::new(&url, &demo.site_key).unwrap(), seen)
}

async fn answer(
    fate: Fate,
    received: Received,
    http: &reqwest::Client,
    url: &str,
    seen: &Mutex<Seen>,
) -> Option<Response<Body>> {
    match fate {
        Fate::Refused(status, pause) => {
            let answer = Response::builder().status(status);
            // It would be followed after a redirection.
            let mut answer = answer.header("location", "/elsewhere");
            if let Some(seconds) = pause {
                answer = answer.header("retry-after", seconds);
            }
            return Some(answer.body(whole("")).unwrap());
        }
        Fate::Instead(answer) => return Some(Response::new(whole(answer))),
        Fate::Answered | Fate::AnswerLost | Fate::AnswerBroken => {}
    }
    let request = http.post(format!("{url}{}", received.path));
    let request = request.headers(received.headers).body(received.body);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let body = answer.bytes().await.unwrap();
    let fields: Value = serde_json::from_slice(&body).unwrap();
    if let Some(id) = fields["id"].as_str() {
        seen.lock().unwrap().ids.push(id.parse().unwrap());
    }
    match fate {
        Fate::AnswerLost => None,
        Fate::AnswerBroken => Some(Response::new(broken(body.slice(..body.len() / 2)))),
        _ => Some(Response::new(whole(body))),
    }
}

#[tokio::test]
async fn a_submission_whose_answer_is_lost_is_repeated_and_stored_once() {
    let fates = &[Fate::AnswerLost, Fate::AnswerBroken, Fate::Answered];
    let (gatehouse, seen) = client(&Demo::read(), fates).await;
    let submitted = gatehouse.submit(&forbidden()).await.unwrap();

    let seen = seen.lock().unwrap();
    assert_eq!(seen.ids, [submitted.id; 3]);
    let keys = seen.headers("idempotency-key");
    assert!(keys[0].is_some_and(|key| key.len() >= 32), "{keys:?}");
    assert_eq!(keys, [keys[0]; 3]);
}

#[tokio::test]
async fn each_submission_has_a_key_of_its_own_unless_one_is_given() {
    let (gatehouse, seen) = client(&Demo::read(), &[Fate::Answered]).await;
    let given = Uuid::new_v4().to_string();
    gatehouse.submit(&forbidden()).await.unwrap();
    gatehouse.submit(&forbidden()).await.unwrap();
    let submitted = gatehouse.submit(&forbidden()).idempotency_key(&given).await;

    let seen = seen.lock().unwrap();
    let keys = seen.headers("idempotency-key");
    assert_ne!(keys[0], keys[1]);
    assert_ne!(seen.ids[0], seen.ids[1]);
    assert_eq!(keys[2], Some(given.as_str()));
    assert_eq!(seen.ids[2], submitted.unwrap().id);
}

#[tokio::test]
async fn requests_are_repeated_after_the_pause_that_the_service_asks_for() {
    let fates = &[
        Fate::Refused(429, Some(3)),
        Fate::Refused(503, Some(2)),
        Fate::Refused(502, None),
        Fate::Answered,
    ];
    let (gatehouse, seen) = client(&Demo::read(), fates).await;
    let verdict = gatehouse.moderate(&forbidden()).await.unwrap();
    assert_eq!(verdict.action, Some(Action::Block));

    let seen = seen.lock().unwrap();
    let keys = seen.headers("idempotency-key");
    assert_eq!(keys, [keys[0]; 4]);
    let pause = |number: usize| seen.requests[number + 1].1 - seen.requests[number].1;
    // The client's own pauses are at most 0.5 and 1 second here.
    assert!(pause(0) >= Duration::from_secs(3));
    assert!(pause(1) >= Duration::from_secs(2));
}

#[tokio::test]
async fn after_the_last_try_the_failure_is_told() {
    let (gatehouse, seen) = client(&Demo::read(), &[Fate::Refused(503, Some(1))]).await;
    let Err(Error::Refused(refused)) = gatehouse.tries(2).submit(&forbidden()).await else {
        panic!("it was never answered");
    };
    assert_eq!((refused.status, refused.code.as_str()), (503, "unknown"));
    assert_eq!(refused.retry_after, Some(Duration::from_secs(1)));
    assert_eq!(seen.lock().unwrap().requests.len(), 2);

    let (gatehouse, seen) = client(&Demo::read(), &[Fate::AnswerLost]).await;
    let lost = gatehouse.tries(2).submit(&forbidden()).await.unwrap_err();
    assert!(
        matches!(lost, Error::Unreachable(_)) && lost.is_passing(),
        "{lost:?}"
    );
    assert_eq!(seen.lock().unwrap().requests.len(), 2);
}

#[tokio::test]
async fn what_would_not_change_is_not_repeated() {
    for fate in [
        &[Fate::Refused(403, None)],
        &[Fate::Refused(307, Some(1))],
        &[Fate::Instead("a page")],
    ] {
        let (gatehouse, seen) = client(&Demo::read(), fate).await;
        let error = gatehouse.submit(&forbidden()).await.unwrap_err();
        assert!(!error.is_passing(), "{error:?}");
        assert_eq!(seen.lock().unwrap().requests.len(), 1, "{error:?}");
    }
    let (gatehouse, seen) = client(&Demo::read(), &[Fate::Answered]).await;
    let content = forbidden();
    let wrong = gatehouse.submit(&content).idempotency_key("two\nlines");
    assert!(matches!(wrong.await, Err(Error::Unreachable(error)) if error.is_builder()));
    assert!(seen.lock().unwrap().requests.is_empty());
}

/// The answer to a submission that is not decided, with the id 7.
const PENDING: &str = r#"{
    "id": "00000000-0000-0000-0000-000000000007",
    "status": "pending",
    "message": "Accepted."
}"#;
const STATUS_PENDING: &str = r#"{
    "media_id": "00000000-0000-0000-0000-000000000007",
    "app_media_id": null,
    "site_id": "00000000-0000-0000-0000-000000000001",
    "content_type": "text",
    "status": "pending",
    "action": null,
    "moderationResult": null,
    "moderation_type": null,
    "created_at": "2026-01-01T00:00:00Z",
    "moderated_at": null,
    "metadata": null
}"#;
const STATUS_DECIDED: &str = r#"{
    "media_id": "00000000-0000-0000-0000-000000000007",
    "app_media_id": null,
    "site_id": "00000000-0000-0000-0000-000000000001",
    "content_type": "text",
    "status": "rejected",
    "action": "block",
    "moderationResult": { "rule_violations": [], "reason": "It is told later." },
    "moderation_type": "rule",
    "created_at": "2026-01-01T00:00:00Z",
    "moderated_at": "2026-01-01T00:00:09Z",
    "metadata": null
}"#;

#[tokio::test]
async fn a_verdict_that_is_late_is_asked_for() {
    let fates = &[
        Fate::Instead(PENDING),
        Fate::Instead(STATUS_PENDING),
        Fate::Refused(503, None),
        Fate::Instead(STATUS_DECIDED),
    ];
    let (gatehouse, seen) = client(&Demo::read(), fates).await;
    let verdict = gatehouse.moderate(&forbidden()).await.unwrap();
    assert_eq!(verdict.id, Uuid::from_u128(7));
    assert_eq!(verdict.status, PolledStatus::Rejected);
    assert_eq!(verdict.action, Some(Action::Block));
    let reason = verdict.moderation_result.unwrap().reason;
    assert_eq!(reason.as_deref(), Some("It is told later."));

    let seen = seen.lock().unwrap();
    let paths: Vec<_> = seen
        .requests
        .iter()
        .map(|(it, _)| it.path.as_str())
        .collect();
    let asked = "/functions/v1/get-media-status";
    assert_eq!(paths, ["/functions/v1/submit-media", asked, asked, asked]);
    assert_eq!(seen.headers("prefer")[0], Some("wait=10"));
    let question: Value = serde_json::from_slice(&seen.requests[1].0.body).unwrap();
    assert_eq!(question["media_id"], json!(verdict.id));
}

#[tokio::test]
async fn without_a_verdict_in_time_the_status_is_pending() {
    let fates = &[Fate::Instead(PENDING), Fate::Instead(STATUS_PENDING)];
    let (gatehouse, seen) = client(&Demo::read(), fates).await;
    let patience = Duration::from_secs(1);
    let verdict = gatehouse.moderate(&forbidden()).patience(patience).await;
    assert_eq!(verdict.unwrap().status, PolledStatus::Pending);
    assert!(seen.lock().unwrap().requests.len() >= 2);
}
