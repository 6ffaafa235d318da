//! What operators do: teams, plans, subscriptions, and other operators.

use domain::role::Role;
use poem::http::StatusCode;
use sqlx::PgPool;
use uuid::Uuid;

use crate::browser::{PASSWORD, Stage, between};

const PLAN: &str = "submissions_per_period=100000&deliveries_per_period=&submissions_per_minute=500\
    &status_queries_per_minute=1000&team_submissions_per_minute=&team_status_queries_per_minute=&endpoints_per_site=5\
    &sites_per_team=10&site_keys_per_team=20&management_tokens_per_team=10&rule_groups_per_team=20&hash_lists_per_team=10";

#[sqlx::test(migrations = false)]
async fn an_operator_creates_a_team_and_invites_its_first_owner(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut operator = stage.person("ops@example.com", Role::Operator).await;
    assert_eq!(operator.get("/").await.leads_to(), "/instance/teams");
    let wrong = operator.post("/instance/teams/new", "name=&plan_id=").await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.text.contains("Must have 1 to 100 characters"));
    let unknown = format!("name=Forum&plan_id={}", Uuid::now_v7());
    let unknown = operator.post("/instance/teams/new", &unknown).await;
    assert_eq!(
        unknown.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{}",
        unknown.text
    );
    assert!(unknown.text.contains("Is no plan."), "{}", unknown.text);

    let created = operator
        .post(
            "/instance/teams/new",
            "name=%3Cscript%3Ealert(1)%3C%2Fscript%3E&plan_id=",
        )
        .await;
    let page = operator.get(created.leads_to()).await.text;
    assert!(
        page.contains("Nobody owns this team yet.") && !page.contains("<script>alert"),
        "{page}"
    );
    assert_eq!(stage.last("team.create").await.0, "ops@example.com");
    let invite = between(&page, "href=\"/instance/people/invite", "\"");
    let team = invite.strip_prefix("?team=").unwrap();
    let form = operator
        .get(&format!("/instance/people/invite{invite}"))
        .await
        .text;
    assert!(form.contains("Invite the first owner of"), "{form}");
    let shown = operator
        .post(
            "/instance/people/invite",
            &format!("team={team}&email=boss%40forum.example"),
        )
        .await;
    assert!(
        shown.text.contains("class=\"secret\">https://localhost")
            || shown.text.contains("class=\"secret\">http://localhost"),
        "{}",
        shown.text
    );
    let again = operator
        .post(
            "/instance/people/invite",
            &format!("team={team}&email=eve%40forum.example"),
        )
        .await;
    assert_eq!(
        again.status,
        StatusCode::FORBIDDEN,
        "one at a time: {}",
        again.text
    );

    let open = operator.get("/instance/people/invitations").await.text;
    assert!(
        open.contains("boss@forum.example") && open.contains("/cancel\""),
        "{open}"
    );
    let listed = operator.get("/instance/people").await.text;
    assert!(listed.contains("ops@example.com"), "{listed}");

    let path = format!("/instance/teams/{team}");
    let renamed = operator.post(&path, "name=Forum").await;
    assert!(
        operator
            .get(renamed.leads_to())
            .await
            .text
            .contains("The team has a new name.")
    );
    let kept = operator.post(&path, "name=++").await;
    assert_eq!(kept.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(stage.last("team.update").await.0, "ops@example.com");
    let missing = operator
        .post(&format!("/instance/teams/{}", Uuid::now_v7()), "name=Forum")
        .await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrations = false)]
async fn an_operator_who_owns_a_team_finds_it(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let link = stage.invitation("ops@example.com", Role::Operator).await;
    let mut operator = stage.browser();
    let form = format!("name=Ops&password={}", PASSWORD.replace(' ', "+"));
    operator.post(&link, &form).await;
    operator.set_up_factor().await;
    let alone = operator.get("/instance/teams").await.text;
    assert!(
        !alone.contains("<details class=\"team\""),
        "there is nothing to choose from: {alone}"
    );

    let created = operator
        .post("/instance/teams/new", "name=Forum&plan_id=")
        .await;
    let page = created.leads_to().split('?').next().unwrap().to_owned();
    assert!(!operator.get(&page).await.text.contains("Open as"));
    let team = page.rsplit('/').next().unwrap();
    let invited = operator
        .post(
            "/instance/people/invite",
            &format!("team={team}&email=ops%40example.com"),
        )
        .await;
    let link = between(&invited.text, "class=\"secret\">", "<");
    let opens = format!("href=\"{link}\">Open it: it is yours");
    assert!(invited.text.contains(&opens), "{}", invited.text);
    let path = link.split_once("/links/").unwrap().1;
    // The session has proved the second factor already.
    let joined = operator.post(&format!("/links/{path}"), &form).await;
    let home = format!("/t/{team}/overview");
    assert_eq!(joined.leads_to(), home);
    assert_eq!(
        operator.get("/").await.leads_to(),
        home,
        "before the instance"
    );
    let text = operator.get(&home).await.text;
    assert!(text.contains("<details class=\"team\""), "{text}");
    let text = operator.get(&page).await.text;
    let open = format!("href=\"{home}\">Open as owner");
    assert!(text.contains(&open), "{text}");
}

#[sqlx::test(migrations = false)]
async fn an_operator_invites_another_one(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut operator = stage.person("ops@example.com", Role::Operator).await;
    let shown = operator
        .post("/instance/people/invite", "email=second%40example.com")
        .await
        .text;
    let url = between(&shown, "class=\"secret\">", "<");
    let (_, link) = url.split_once("/links/").unwrap();
    let page = stage.browser().get(&format!("/links/{link}")).await.text;
    assert!(
        page.contains("Run this instance") && page.contains("<b>operator</b>"),
        "{page}"
    );

    stage.person("owner@market.example", Role::Owner).await;
    let listed = operator.get("/instance/people").await.text;
    assert!(
        listed.contains("Marktplatz") && listed.contains("owner@market.example"),
        "{listed}"
    );
    let owner = between(&listed, "href=\"/instance/people/", "\"");
    let people: Vec<&str> = listed.split("href=\"/instance/people/").skip(1).collect();
    assert!(people.len() > 2, "{owner}");
    let theirs = people
        .iter()
        .find(|row| row.contains("owner@market.example"))
        .unwrap();
    let theirs = format!("/instance/people/{}", theirs.split('"').next().unwrap());
    let page = operator.get(&theirs).await.text;
    assert!(
        !page.contains("Disable</button>") && !page.contains("password-link"),
        "{page}"
    );
    let refused = operator.post(&format!("{theirs}/disable"), "").await;
    assert_eq!(
        refused.status,
        StatusCode::FORBIDDEN,
        "an operator is no owner"
    );
}

#[sqlx::test(migrations = false)]
async fn a_plan_is_made_changed_and_given_to_a_team(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut operator = stage.person("ops@example.com", Role::Operator).await;
    let new = operator.get("/instance/plans/new").await.text;
    assert!(
        new.contains("name=\"submissions_per_minute\" type=\"number\" value=\"1000\""),
        "{new}"
    );
    let wrong = operator
        .post(
            "/instance/plans/new",
            "name=Small&submissions_per_period=-1&submissions_per_minute=many",
        )
        .await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        wrong
            .text
            .contains("Must be a whole number from 1 to 1000000.")
            && wrong.text.contains("value=\"many\""),
        "{}",
        wrong.text
    );
    assert_eq!(
        wrong.text.matches("class=\"problem\"").count(),
        9,
        "{}",
        wrong.text
    );

    let created = operator
        .post("/instance/plans/new", &format!("name=%3Cb%3ESmall&{PLAN}"))
        .await;
    let listed = operator.get(created.leads_to()).await.text;
    assert!(
        listed.contains("&#60;b&#62;Small")
            && listed.contains(">100,000<")
            && listed.contains("no limit"),
        "{listed}"
    );
    assert_eq!(stage.last("plan.create").await.0, "ops@example.com");
    let taken = operator
        .post("/instance/plans/new", &format!("name=%3Cb%3ESmall&{PLAN}"))
        .await;
    assert_eq!(taken.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        taken.text.contains("Another one has this name already"),
        "{}",
        taken.text
    );

    let (_, rest) = listed
        .split_once("&#60;b&#62;Small")
        .map(|(before, _)| before.rsplit_once("/instance/plans/").unwrap())
        .unwrap();
    let plan = rest.split('"').next().unwrap().to_owned();
    let path = format!("/instance/plans/{plan}");
    assert!(operator.get(&path).await.text.contains("value=\"100000\""));
    let changed = operator
        .post(&path, &format!("name=Tiny&{}", PLAN.replace("100000", "5")))
        .await;
    assert!(
        operator
            .get(changed.leads_to())
            .await
            .text
            .contains(">Tiny</a>")
    );
    assert_eq!(stage.last("plan.update").await.0, "ops@example.com");

    let path = format!("/instance/teams/{}/subscription", stage.team);
    assert!(operator.get(&path).await.text.contains("badge ok\">active"));
    for (form, told) in [
        (
            format!("plan_id={}&state=active", Uuid::now_v7()),
            "Is no plan.",
        ),
        (
            format!("plan_id={plan}&state=free"),
            "Must be one of the states.",
        ),
        (
            format!("plan_id={plan}&state=active&started_at=now"),
            "Must be a UTC time",
        ),
    ] {
        let wrong = operator.post(&path, &form).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{form}");
        assert!(wrong.text.contains(told), "{form}: {}", wrong.text);
    }
    let form = format!("plan_id={plan}&state=past_due&started_at=2026-01-31T08%3A00");
    let changed = operator.post(&path, &form).await;
    let shown = operator.get(changed.leads_to()).await.text;
    assert!(
        shown.contains("past due since")
            && shown.contains("0 of 5")
            && shown.contains("2026-01-31 08:00:00 UTC"),
        "{shown}"
    );
    assert_eq!(stage.last("subscription.update").await.0, "ops@example.com");
}
