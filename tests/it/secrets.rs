//! What a busy, troubled service writes down: its logs and metrics contain no key, token, secret or
//! content at any log level, and its database contains no key, token or secret in clear. Each name
//! begins with the number of its case in `docs/reliability.md`.

mod customers;
mod internal_errors;
mod search;
mod service;

use sqlx::PgPool;

use crate::support::{FakeProvider, Mode, Receiver, SOON, admin, new_site, text};
use search::{assert_free, dump, secrets};
use service::Service;

const TEXT: &str = "an-unmistakable-text";
const METADATA: &str = "an-unmistakable-metadatum";
const APP_MEDIA_ID: &str = "an-unmistakable-name";
const IMAGE_USER: &str = "unmistakable-user";
const IMAGE_PASSWORD: &str = "unmistakable-password";
const IMAGE: &str = "an-unmistakable-picture";
const QUERY: &str = "an-unmistakable-query";
const ANSWER: &str = "an-unmistakable-answer";
const MALFORMED: &str = "an-unmistakable-mistake";

#[sqlx::test(migrations = false)]
async fn case_31_neither_database_nor_logs_nor_metrics_hold_a_secret(pool: PgPool) {
    let site = new_site(&pool);
    let token = admin(&pool, &["create-token", "--name", "all", "--scopes", "all"]);
    let token = text(&token, "management_token");
    let (provider, receiver) = (
        FakeProvider::openai(Mode::Well).await,
        Receiver::start().await,
    );
    admin(
        &pool,
        &[
            "create-endpoint",
            "--site",
            &site.id,
            "--url",
            &receiver.url(),
            "--egress-allow",
            &receiver.host(),
        ],
    );
    receiver.say(ANSWER);

    let service = Service::start(&pool, &provider, &receiver).await;
    customers::use_it(&service, &site, &token).await;
    internal_errors::trouble(&service, &site, &provider, &pool).await;

    let secrets = secrets(&pool, &site, &token);
    let content = [
        TEXT,
        METADATA,
        APP_MEDIA_ID,
        IMAGE_USER,
        IMAGE_PASSWORD,
        IMAGE,
        QUERY,
        ANSWER,
        MALFORMED,
    ];
    let markers: Vec<String> = content
        .iter()
        .map(ToString::to_string)
        .chain(secrets.clone())
        .collect();
    let told = service.told().await;
    for heard in [
        "answered",
        "could not store submissions",
        "a provider failed permanently for an item",
        "TRACE",
        "gatehouse_http_requests_total",
    ] {
        assert!(
            told.contains(heard),
            "{heard} is missing: the test did not collect everything"
        );
    }
    assert_free("a log or a metric", &told, &markers);

    let dump = dump(&pool);
    for kept in [TEXT, METADATA, "mgmt_"] {
        assert_eq!(dump.contains(kept), kept != "mgmt_", "{kept}");
    }
    assert_free("the database", &dump, &secrets);
}
