//! Every change that a form makes is in the audit log, with the person and the request. All tests of the console check it: each
//! form that one of them sends and that is not refused must have left a row, unless it is listed here. The forms that no other
//! test sends are sent here.

use console::Access;
use domain::role::Role;
use poem::http::StatusCode;
use sqlx::PgPool;
use uuid::Uuid;

use crate::browser::{Answer, Browser, PASSWORD, Stage};

/// Forms that leave no row of a person, and why. If there is a text, only answers that contain it.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "/account/factor",
        "",
        "the factor counts when it is confirmed",
    ),
    (
        "/account/sign-on",
        "",
        "the account is connected when the provider sends the browser back",
    ),
    (
        "/sign-on/take-address",
        "",
        "the address is taken when the provider sends the browser back",
    ),
    (
        "/sign-in/code",
        "",
        "the sign-in was recorded with the password",
    ),
    (
        "/t/{team}/rules/{group}/try",
        "",
        "a text that is tried is not stored",
    ),
    (
        "/t/{team}/desk/claim",
        "",
        "who looks at a review is no change",
    ),
    (
        "/t/{team}/desk/{review}/undo",
        "",
        "a decision that is told already is not undone",
    ),
    (
        "/t/{team}/desk/{review}/decision",
        "",
        "a review that is somebody else's leads on to the next one",
    ),
    (
        "/t/{team}/desk/{review}/skip",
        "",
        "a review that is somebody else's leads on to the next one",
    ),
    (
        "/t/{team}/desk/{review}/note",
        "",
        "a review that is somebody else's leads on to the next one",
    ),
    (
        "/t/{team}/desk/{review}/escalate",
        "",
        "a review that is somebody else's leads on to the next one",
    ),
    (
        "/instance/dead-jobs/replay",
        ">0 jobs were enqueued",
        "no job was left",
    ),
];

/// # Panics
/// The form has changed something, and the audit log does not say who did it.
pub(crate) async fn check(pool: &PgPool, path: &str, answer: &Answer) {
    let Some((route, needs)) = route(path) else {
        return;
    };
    let is_done = matches!(answer.status, StatusCode::OK | StatusCode::SEE_OTHER);
    if !is_done || (needs != Access::Nothing && leads_away(answer)) || is_exception(route, answer) {
        return;
    }
    let request = answer.headers["x-request-id"].to_str().unwrap();
    let rows: i64 = sqlx::query_scalar(
        "select count(*) from audit_log where request_id = $1 and actor = 'member' and actor_id is not null",
    )
    .bind(request)
    .fetch_one(pool)
    .await
    .unwrap();
    assert!(rows > 0, "POST {route} is not in the audit log");
}

fn is_exception(route: &str, answer: &Answer) -> bool {
    let mut exceptions = EXCEPTIONS.iter();
    exceptions.any(|(known, said, _)| *known == route && answer.text.contains(said))
}

/// Whether the person must sign in or give something first.
fn leads_away(answer: &Answer) -> bool {
    answer.status == StatusCode::SEE_OTHER
        && ["/sign-in", "/sign-in/code", "/account/factor"]
            .contains(&answer.leads_to().split('?').next().unwrap_or_default())
}

/// The target of the form, as the router names it. A name comes before a parameter.
fn route(path: &str) -> Option<(&'static str, Access)> {
    let matches = |route: &str| {
        let (known, asked) = (route.split('/'), path.split('/'));
        known.clone().count() == asked.clone().count()
            && known
                .zip(asked)
                .all(|(known, asked)| known.starts_with('{') || known == asked)
    };
    let routes = console::routes().into_iter();
    let found = routes.filter(|(method, route, _)| *method == "POST" && matches(route));
    found
        .map(|(_, route, needs)| (route, needs))
        .min_by_key(|(route, _)| route.matches('{').count())
}

#[test]
fn each_exception_is_a_form() {
    for (known, _, reason) in EXCEPTIONS {
        let is_form = |(method, route, _): &(&str, &str, _)| *method == "POST" && route == known;
        assert!(console::routes().iter().any(is_form), "{known}: {reason}");
    }
}

/// Sends a form, which must not be refused.
async fn done(browser: &mut Browser, path: &str, form: &str) {
    let answer = browser.post(path, form).await;
    let is_done = matches!(answer.status, StatusCode::OK | StatusCode::SEE_OTHER);
    assert!(is_done && !leads_away(&answer), "{path}: {}", answer.text);
}

/// Signs in once more, and finds the new session.
async fn another_session(stage: &Stage, email: &str) -> Uuid {
    let form = format!("email={email}&password={}", PASSWORD.replace(' ', "+"));
    stage.browser().post("/sign-in", &form).await.leads_to();
    let newest = sqlx::query_scalar("select id from sessions order by created_at desc limit 1");
    newest.fetch_one(&stage.management.pool).await.unwrap()
}

#[sqlx::test(migrations = false)]
async fn changes_of_the_own_account_are_recorded(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut ada = stage.person("ada@example.com", Role::Viewer).await;
    let session = another_session(&stage, "ada@example.com").await;
    done(&mut ada, &format!("/account/sessions/{session}/end"), "").await;
    another_session(&stage, "ada@example.com").await;
    done(&mut ada, "/account/sessions/end-others", "").await;
    let form = format!(
        "current={}&new=gravel+lantern+moth",
        PASSWORD.replace(' ', "+")
    );
    done(&mut ada, "/account/password", &form).await;
}

#[sqlx::test(migrations = false)]
async fn changes_of_operators_are_recorded(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let mut operator = stage.person("ops@example.com", Role::Operator).await;
    done(
        &mut operator,
        "/instance/people/invite",
        "email=new%40example.com",
    )
    .await;
    let invitation: Uuid =
        sqlx::query_scalar("select id from links where email = 'new@example.com'")
            .fetch_one(&pool)
            .await
            .unwrap();
    let invitation = format!("/instance/people/invitations/{invitation}/cancel");
    done(&mut operator, &invitation, "").await;
    stage.person("second@example.com", Role::Operator).await;
    let session = another_session(&stage, "second@example.com").await;
    let second: Uuid = sqlx::query_scalar(
        "select m.id from memberships m join users u on u.id = m.user_id where u.email = 'second@example.com'",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    let theirs = format!("/instance/people/{second}");
    for what in [
        &format!("/sessions/{session}/end"),
        "/password-link",
        "/disable",
    ] {
        done(&mut operator, &format!("{theirs}{what}"), "").await;
    }
}
