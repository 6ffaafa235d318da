//! Who may do what: every page and every form's target, opened by every role and by nobody. The list is the router's own,
//! so a new page is in it.
//!
//! A page says which scope it needs. The use cases behind it decide. Both must agree, because the navigation and other
//! pages offer what the page says. A person without the scope is told its name, before anything else is looked at: the
//! ids in the addresses exist nowhere.

use console::Access;
use domain::{role::Role, scope::Scope};
use poem::http::StatusCode;
use sqlx::PgPool;
use uuid::Uuid;

use crate::browser::{Answer, Browser, Stage};

/// Where somebody without a second factor is led.
const SET_UP: &str = "/account/factor";

type Route = (&'static str, &'static str, Access);

#[sqlx::test(migrations = false)]
async fn each_role_opens_what_its_scopes_allow_and_nothing_else(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut wrong = Vec::new();
    for role in Role::ALL {
        let mut browser = stage.person(&format!("{role}@example.com"), *role).await;
        let (mut opened, mut refused) = (0, 0);
        for (route, scope) in with_scopes() {
            let before = stage.changes().await;
            let answer = open(&stage, &mut browser, route).await;
            let belongs = route.1.starts_with("/instance/") == (*role == Role::Operator);
            let mistake = if belongs && role.scopes().contains(&scope) {
                opened += 1;
                is_refused(&answer).then_some("is refused all the same")
            } else {
                refused += 1;
                if stage.changes().await != before {
                    Some("changed something")
                } else if belongs {
                    not_for_want_of(scope, &answer)
                } else {
                    let hidden = answer.status == StatusCode::NOT_FOUND;
                    (!hidden && !leads_to_the_door(&answer)).then_some("sees that it exists")
                }
            };
            if let Some(mistake) = mistake {
                let (method, path, _) = route;
                let status = answer.status;
                wrong.push(format!(
                    "{method} {path} needs {scope}: {role} {mistake} ({status})"
                ));
            }
        }
        assert!(
            opened > 0 && refused > 0,
            "{role}: {opened} opened, {refused} refused"
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with the answer to a person who lacks the scope.
fn not_for_want_of(scope: Scope, answer: &Answer) -> Option<&'static str> {
    let reason = format!("does not have the scope {scope}.");
    match answer.status {
        StatusCode::FORBIDDEN if answer.text.contains(&reason) => None,
        StatusCode::FORBIDDEN => Some("is refused for another reason"),
        _ => Some("is not refused"),
    }
}

#[sqlx::test(migrations = false)]
async fn everybody_has_an_account(pool: PgPool) {
    let stage = Stage::new(pool).await;
    for role in Role::ALL {
        let mut browser = stage.person(&format!("{role}@example.com"), *role).await;
        for (place, route) in with_sessions().into_iter().enumerate() {
            if route.0 != "GET" {
                // Some of these forms end the session or remove the second factor, so each gets a person of its own.
                let email = format!("{role}-{place}@example.com");
                browser = stage.person(&email, *role).await;
            }
            let answer = open(&stage, &mut browser, route).await;
            let sets_up = answer.status == StatusCode::SEE_OTHER && answer.leads_to() == SET_UP;
            assert!(
                sets_up || !is_refused(&answer),
                "{role}: {} {}: {}",
                route.0,
                route.1,
                answer.text
            );
        }
    }
}

#[sqlx::test(migrations = false)]
async fn nobody_opens_anything_without_signing_in(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let before = stage.changes().await;
    let scoped = with_scopes().into_iter().map(|(route, _)| route);
    for route in scoped.chain(with_sessions()) {
        let answer = open(&stage, &mut stage.browser(), route).await;
        assert!(
            leads_to_the_door(&answer),
            "{} {}: {}",
            route.0,
            route.1,
            answer.status
        );
    }
    assert_eq!(stage.changes().await, before);
}

/// The routes that need a scope.
fn with_scopes() -> Vec<(Route, Scope)> {
    let routes = console::routes().into_iter();
    let found: Vec<_> = routes
        .filter_map(|route| match route.2 {
            Access::Scope(scope) => Some((route, scope)),
            Access::Nothing | Access::Session => None,
        })
        .collect();
    assert!(found.len() > 40, "{}", found.len());
    found
}

/// The routes that need nothing but a session.
fn with_sessions() -> Vec<Route> {
    let routes = console::routes().into_iter();
    let found: Vec<_> = routes.filter(|route| route.2 == Access::Session).collect();
    assert!(found.len() > 5, "{}", found.len());
    found
}

async fn open(stage: &Stage, browser: &mut Browser, (method, path, _): Route) -> Answer {
    let address = address(path, stage);
    match method {
        "GET" if path.ends_with("/preview") => browser.picture(&address).await,
        "GET" => browser.get(&address).await,
        _ => browser.attempt(&address).await,
    }
}

/// The path in the person's team, with ids that exist nowhere.
fn address(path: &str, stage: &Stage) -> String {
    let parts = path.split('/').enumerate();
    let parts: Vec<String> = parts
        .map(|(place, part)| match part {
            "{team}" if place == 2 => stage.team.to_string(),
            part if part.starts_with('{') => Uuid::now_v7().to_string(),
            part => part.to_owned(),
        })
        .collect();
    parts.join("/")
}

/// Whether the answer says that the person may not do this, or that it could not be tried.
fn is_refused(answer: &Answer) -> bool {
    leads_to_the_door(answer)
        || matches!(
            answer.status,
            StatusCode::FORBIDDEN
                | StatusCode::UNAUTHORIZED
                | StatusCode::METHOD_NOT_ALLOWED
                | StatusCode::TOO_MANY_REQUESTS
        )
        || answer.status.is_server_error()
}

/// Whether the person is led to where people sign in or give a second factor.
fn leads_to_the_door(answer: &Answer) -> bool {
    answer.status == StatusCode::SEE_OTHER
        && ["/sign-in", "/sign-in/code", SET_UP].contains(&answer.leads_to())
}
