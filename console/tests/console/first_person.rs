//! The first person.

use management::account::first_operator;
use poem::http::StatusCode;
use sqlx::PgPool;

use crate::browser::Stage;

const FORM: &str = "email=ada%40example.com&name=Ada&password=kelp+otter+violin";

#[sqlx::test(migrations = false)]
async fn the_first_person_runs_the_instance_and_owns_the_demo_and_the_example_team(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    sqlx::query("insert into teams (id, name) values ('01990000-0000-7000-8000-000000e8a1e5', 'Example data')")
        .execute(&pool)
        .await
        .unwrap();
    let earlier = first_operator::link(&stage.management, None)
        .await
        .unwrap()
        .unwrap();
    let link = first_operator::link(&stage.management, Some(stage.team))
        .await
        .unwrap();
    let path = format!("/links/{}", link.unwrap().expose());
    let mut browser = stage.browser();
    let gone = browser.get(&format!("/links/{}", earlier.expose())).await;
    assert_eq!(
        gone.status,
        StatusCode::NOT_FOUND,
        "the later link replaced it"
    );
    let page = browser.get(&path).await.text;
    assert!(
        page.contains("Welcome to Gatehouse") && page.contains("Marktplatz"),
        "{page}"
    );

    for (wrong, told) in [
        (
            "email=ada&name=Ada&password=kelp+otter+violin",
            "email-problem",
        ),
        (
            "email=ada%40example.com&name=&password=kelp+otter+violin",
            "name-problem",
        ),
        (
            "email=ada%40example.com&name=Ada&password=short",
            "password-problem",
        ),
    ] {
        let refused = browser.post(&path, wrong).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong}");
        assert!(refused.text.contains(told), "{}", refused.text);
    }
    assert_eq!(
        browser.post(&path, FORM).await.leads_to(),
        "/account/factor"
    );
    browser.set_up_factor().await;
    let account = browser.get("/account").await.text;
    for place in ["This instance", "Marktplatz", "Example data"] {
        assert!(account.contains(place), "{account}");
    }

    let again = stage.browser().post(&path, FORM).await;
    assert_eq!(again.status, StatusCode::NOT_FOUND, "it works once");
    let another = first_operator::link(&stage.management, None).await.unwrap();
    assert!(another.is_none(), "somebody runs the instance");
}

#[sqlx::test(migrations = false)]
async fn a_link_of_before_does_not_make_a_second_first_person(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let link = first_operator::link(&stage.management, None)
        .await
        .unwrap()
        .unwrap();
    let path = format!("/links/{}", link.expose());
    assert_eq!(
        stage.browser().post(&path, FORM).await.status,
        StatusCode::SEE_OTHER
    );
    // As if both links had been made while nobody ran the instance.
    sqlx::query("update memberships set disabled_at = now()")
        .execute(&pool)
        .await
        .unwrap();
    let left = first_operator::link(&stage.management, None)
        .await
        .unwrap()
        .unwrap();
    sqlx::query("update memberships set disabled_at = null")
        .execute(&pool)
        .await
        .unwrap();
    let form = FORM.replace("ada", "eve");
    let refused = stage
        .browser()
        .post(&format!("/links/{}", left.expose()), &form)
        .await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND, "{}", refused.text);
}
