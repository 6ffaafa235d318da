//! Texts that Postgres does not store, from everywhere where texts come from: the provider, forms, addresses and headers.

use console::Access;
use domain::role::Role;
use poem::http::{Method, StatusCode};
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

use super::{Scene, connecting::begin_to_connect, signs_in};
use crate::browser::Stage;

#[sqlx::test(migrations = false)]
async fn no_text_of_the_provider_fails_in_the_database(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let viewer = scene.role(Role::Viewer);
    let long = "a".repeat(300_000 / 10);
    for (claims, status) in [
        (json!({ "sub": "a\0b" }), StatusCode::BAD_GATEWAY),
        (json!({ "sub": "\0" }), StatusCode::BAD_GATEWAY),
        (json!({ "sub": "a\nb" }), StatusCode::BAD_GATEWAY),
        (json!({ "sub": long }), StatusCode::BAD_GATEWAY),
        (
            json!({ "email": "a\0@example.com" }),
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
        (json!({ "email": "\0" }), StatusCode::UNPROCESSABLE_ENTITY),
        (
            json!({ "email": format!("{long}@example.com") }),
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
        (
            json!({ "sub": "1", "email": "b@example.com", "name": "A\0b" }),
            StatusCode::SEE_OTHER,
        ),
        (
            json!({ "sub": "2", "email": "c@example.com", "name": long }),
            StatusCode::SEE_OTHER,
        ),
        (
            json!({ "sub": "3", "email": "d@example.com", "roles": [viewer, "gatehouse:\0", "\0"] }),
            StatusCode::SEE_OTHER,
        ),
        (
            json!({ "sub": "4", "email": "e@example.com", "amr": ["\0"], "acr": "\0", "azp": "gatehouse" }),
            StatusCode::SEE_OTHER,
        ),
    ] {
        let mut browser = scene.stage.browser();
        scene.provider.set(|state| state.claims = claims.clone());
        let answer = scene
            .sign_on(&mut browser, "ada", &[scene.role(Role::Viewer)])
            .await;
        assert_eq!(answer.status, status, "{claims}: {}", answer.text);
        assert_eq!(signs_in(&browser), status == StatusCode::SEE_OTHER);
    }
}

#[sqlx::test(migrations = false)]
async fn a_connected_account_has_only_texts_that_were_checked(pool: PgPool) {
    let scene = Scene::new(pool).await;
    let mut browser = scene.stage.person("bob@example.com", Role::Viewer).await;
    scene
        .provider
        .set(|state| state.claims = json!({ "sub": "a\0b" }));
    let back = begin_to_connect(&scene.provider, &mut browser, "bob").await;
    assert_eq!(browser.get(&back).await.status, StatusCode::BAD_GATEWAY);
    scene
        .provider
        .set(|state| state.claims = json!({ "email": "a\0@example.com" }));
    let back = begin_to_connect(&scene.provider, &mut browser, "bob").await;
    assert_eq!(
        browser.get(&back).await.leads_to(),
        "/account?done=connected"
    );
    let page = browser.get("/account").await.text;
    assert!(page.contains("not known"), "the address there: {page}");
}

/// Every page and every form, with every name of a field that any of them reads.
#[sqlx::test(migrations = false)]
async fn no_text_of_a_form_or_an_address_fails_in_the_database(pool: PgPool) {
    const NAMES: &[&str] = &[
        "email",
        "name",
        "password",
        "code",
        "team",
        "link",
        "role",
        "q",
        "after",
        "site_ids",
        "reason",
        "note",
        "text",
        "author",
        "app_media_id",
        "error",
        "queue",
        "cursor",
        "action",
        "actor",
        "target",
        "description",
        "password_again",
        "state",
        "iss",
        "current",
        "new",
        "done",
    ];
    let stage = Stage::new(pool).await;
    let mut owner = stage.person("owner@example.com", Role::Owner).await;
    let mut operator = stage.person("operator@example.com", Role::Operator).await;
    let fields: Vec<String> = NAMES.iter().map(|name| format!("{name}=a%00b")).collect();
    let fields = fields.join("&");
    let mut tried = 0;
    for (method, route, needs) in console::routes() {
        let is_own = needs == Access::Session && route != "/account/password";
        if method == "POST" && (is_own || route == "/sign-out") {
            // These read no texts, and some end the session.
            continue;
        }
        let path = route
            .replace("{team}", &stage.team.to_string())
            .split('/')
            .map(|part| {
                if part.starts_with('{') {
                    Uuid::now_v7().to_string()
                } else {
                    part.to_owned()
                }
            })
            .collect::<Vec<_>>()
            .join("/");
        let browser = if route.starts_with("/instance/") {
            &mut operator
        } else {
            &mut owner
        };
        for (path, form) in [
            (format!("{path}?{fields}"), ""),
            (path.clone(), fields.as_str()),
        ] {
            let own = [("sec-fetch-site", "same-origin")];
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let answer = browser.send(method, &path, form, &own).await;
            assert!(!answer.status.is_server_error(), "{route}: {}", answer.text);
            tried += 1;
        }
    }
    assert!(tried > 200, "{tried}");
    let refused = owner.post("/sign-in", "email=a%00b&password=x").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.text.contains("U+0000"), "{}", refused.text);
}

/// Headers that are stored or looked up.
#[sqlx::test(migrations = false)]
async fn no_header_fails_in_the_database(pool: PgPool) {
    let stage = Stage::new(pool).await;
    stage.person("ada@example.com", Role::Viewer).await;
    let form = "email=ada%40example.com&password=kelp+otter+violin";
    let long = "x".repeat(9_000);
    for (name, value) in [
        ("user-agent", long.as_str()),
        ("x-request-id", long.as_str()),
        ("traceparent", long.as_str()),
        (
            "cookie",
            "__Host-gatehouse=session_%00; __Host-gatehouse-sign-on=%00",
        ),
        ("host", "%00"),
    ] {
        let mut browser = stage.browser();
        let headers = [("sec-fetch-site", "same-origin"), (name, value)];
        let answer = browser.send(Method::POST, "/sign-in", form, &headers).await;
        assert!(!answer.status.is_server_error(), "{name}: {}", answer.text);
    }
}
