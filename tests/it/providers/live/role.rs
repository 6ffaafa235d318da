//! Credentials of a role.

use serde_json::json;
use sqlx::PgPool;

use super::{super::HOUR, check, live, tells};
use crate::support::{Act, FakeProvider, Mode, Panel, ScriptedServer, Wire};

/// An entry that takes its credentials from the machine's role.
fn by_role(server: &FakeProvider) -> String {
    let [_, _, _, url] = server.options();
    format!(
        "[[provider]]\nname = \"aws\"\nkind = \"rekognition\"\nregion = \"eu-west-1\"\n\
         credentials = \"role\"\nurl = {url:?}\n"
    )
}

/// Credentials with the fake provider's key.
fn issued() -> Act {
    let issued = json!({
        "Code": "Success",
        "AccessKeyId": FakeProvider::KEY_ID,
        "SecretAccessKey": FakeProvider::KEY,
        "Token": "a-session",
        "Expiration": "2099-01-01T00:00:00Z",
    });
    Act::file("application/json", issued.to_string().into_bytes())
}

#[sqlx::test(migrations = false)]
async fn a_role_s_credentials_come_from_where_the_environment_says(pool: PgPool) {
    let aws = FakeProvider::start(Wire::Rekognition, Mode::Well).await;
    let panel = Panel::start(&pool, 0, &[by_role(&aws)], HOUR, &["violence"]).await;
    let places = ScriptedServer::start(|path, _| match path {
        "/latest/api/token" => Act::file("text/plain", b"a-token".to_vec()),
        "/latest/meta-data/iam/security-credentials/" => Act::file("text/plain", b"r".to_vec()),
        "/container" | "/latest/meta-data/iam/security-credentials/r" => issued(),
        _ => Act::head("403 Forbidden"),
    })
    .await;
    let at = |path: &str| places.url(path);
    let ok = ["provider aws, image: ok in "];
    let container = at("/container");
    let variables = [("AWS_CONTAINER_CREDENTIALS_FULL_URI", container.as_str())];
    let (is_well, told) = live(&panel, &variables).await;
    assert!(is_well && tells(&told, &ok), "{told}");
    let instance = at("/");
    let variables = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", instance.as_str())];
    let (is_well, told) = live(&panel, &variables).await;
    assert!(is_well && tells(&told, &ok), "{told}");
    assert_eq!(aws.answered(), 2);

    let nobody = at("/nobody");
    let variables = [("AWS_CONTAINER_CREDENTIALS_FULL_URI", nobody.as_str())];
    let (is_well, told) = live(&panel, &variables).await;
    let words = [
        "provider aws, image: there are no valid credentials for it: ",
        "HTTP 403; check the task's role",
    ];
    assert!(!is_well && tells(&told, &words), "{told}");
    for (name, value, word) in [
        ("AWS_EC2_METADATA_DISABLED", "true", "there is no role: "),
        (
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            "http://elsewhere.example/",
            "must be an https URL or an address on this machine",
        ),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "/t", "AWS_ROLE_ARN is not"),
    ] {
        let (is_well, told) = check(&panel, &[], &[(name, value)]).await;
        assert!(!is_well && tells(&told, &["aws: ", word]), "{told}");
    }
}
