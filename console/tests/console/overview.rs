//! The overview of a team.

mod to_do;

use domain::{id::SiteId, role::Role};
use management::{Caller, rule_groups, sites::Page};
use poem::http::StatusCode;
use sqlx::PgPool;
use uuid::Uuid;

use crate::{
    browser::Stage,
    sites::{ESCAPED, HOSTILE, site},
};

/// Figures of an hour: 1,200 items, 1,240 verdicts.
const HOUR: &str = "
    insert into statistics_hours
    values ($1, date_trunc('hour', now()) - make_interval(hours => $2), $3, 1000, 150, 50, 0, 0, 0, 30, 10, 0, 0, 0,
        0, 0, 9998, 7, $4, 0)";

/// Stores figures of a team or of a site.
async fn counted(pool: &PgPool, subject: Uuid, hours_ago: i32, accepted: i64, exhausted: i64) {
    sqlx::query(HOUR)
        .bind(subject)
        .bind(hours_ago)
        .bind(accepted)
        .bind(exhausted)
        .execute(pool)
        .await
        .unwrap();
}

/// Stores how often a rule matched today.
async fn matched(pool: &PgPool, subject: Uuid, group: Uuid, name: Option<&str>, matches: i64) {
    let rule = name.map_or(Uuid::nil(), |_| Uuid::now_v7());
    sqlx::query(
        "insert into statistics_rules values ($1, (now() at time zone 'UTC')::date, $2, $3, $4, $5)",
    )
    .bind(subject)
    .bind(group)
    .bind(rule)
    .bind(name)
    .bind(matches)
    .execute(pool)
    .await
    .unwrap();
}

fn path(stage: &Stage, query: &str) -> String {
    format!("/t/{}/overview{query}", stage.team)
}

#[sqlx::test(migrations = false)]
async fn a_new_team_is_led_to_its_first_item(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    assert_eq!(admin.get("/").await.leads_to(), path(&stage, ""));
    let new = admin.get(&path(&stage, "")).await;
    assert_eq!(new.status, StatusCode::OK, "{}", new.text);
    assert!(new.text.contains("First steps"), "{}", new.text);
    assert!(new.text.contains("/sites/new\">New site<"), "{}", new.text);
    assert!(!new.text.contains("role=\"img\""), "{}", new.text);
    assert!(!new.text.contains("Nothing needs you"), "{}", new.text);
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let shown = viewer.get(&path(&stage, "")).await.text;
    assert!(!shown.contains("/sites/new"), "{shown}");

    let forum = site(&stage, "Forum").await;
    let begun = admin.get(&path(&stage, "")).await.text;
    assert_eq!(begun.matches("<li class=\"done\">").count(), 1, "{begun}");
    let keys = format!("/sites/{forum}/keys\">Keys<");
    assert!(begun.contains(&keys), "{begun}");
    assert!(!viewer.get(&path(&stage, "")).await.text.contains(&keys));
    management::site_keys::create(&Caller::command_line(&stage.management), forum)
        .await
        .unwrap();
    let keyed = admin.get(&path(&stage, "")).await.text;
    assert_eq!(keyed.matches("<li class=\"done\">").count(), 2, "{keyed}");
}

#[sqlx::test(migrations = false)]
async fn the_figures_of_a_span_are_shown_and_compared_with_the_one_before(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let team = stage.team.as_uuid();
    counted(&pool, team, 2, 1_200, 2).await;
    counted(&pool, team, 26, 1_000, 0).await;
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let day = viewer.get(&path(&stage, "")).await;
    assert_eq!(day.status, StatusCode::OK, "{}", day.text);
    for part in [
        "<h2>Items</h2><p class=\"figure\">1,200</p>",
        "<p class=\"quiet\">+20 % from the day before</p>",
        "<p class=\"figure\">40</p><p class=\"quiet\">3.2 % of all verdicts</p>",
        "<p class=\"figure\">0</p><p class=\"quiet\">now; 50 sent to review</p>",
        "<p class=\"figure\">99.98 %</p><p class=\"quiet\">7 attempts failed, 2 given up</p>",
        "<p class=\"quiet\">−0.02 points from the day before</p>",
        "aria-label=\"1,240 verdicts in the last 24 hours: 1,030 approved, 160 rejected, 50 to review.",
        "data-label=\"Approved\">1,030</td>",
        "Complete until <time",
        "No rule matched in the last 24 hours.",
    ] {
        assert!(day.text.contains(part), "{part}: {}", day.text);
    }
    assert_eq!(day.text.matches("<th scope=\"row\">").count(), 24);
    // One bar of three layers, drawn by attributes.
    assert_eq!(day.text.matches("width=\"16\"").count(), 3, "{}", day.text);
    let told = ": 1,030 approved, 160 rejected, 50 to review</title>";
    assert!(day.text.contains(told), "{}", day.text);
    assert_eq!(day.text.matches("<title>").count(), 1 + 24);
    assert!(!day.text.contains("style="), "{}", day.text);

    for (span, rows, name) in [("7d", 28, "7 days"), ("30d", 30, "30 days")] {
        let long = viewer.get(&path(&stage, &format!("?span={span}"))).await;
        assert!(long.text.contains(">2,200</p>"), "{span}: {}", long.text);
        let chosen = format!("<option value=\"{span}\" selected>{name}</option>");
        assert!(long.text.contains(&chosen), "{}", long.text);
        assert_eq!(long.text.matches("<th scope=\"row\">").count(), rows);
        let peak = long.text.contains("Most were in the six hours from");
        assert_eq!(peak, span == "7d", "{}", long.text);
        assert!(!long.text.contains("before</p>"), "nothing to compare with");
    }
    let unknown = viewer.get(&path(&stage, "?span=%22%3E%3Cb%3E")).await;
    assert_eq!(unknown.status, StatusCode::OK);
    assert!(unknown.text.contains("<option value=\"24h\" selected>"));
}

#[sqlx::test(migrations = false)]
async fn one_site_has_figures_of_its_own_and_a_foreign_one_none(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, HOSTILE).await;
    let quiet = site(&stage, "Quiet").await;
    counted(&pool, stage.team.as_uuid(), 2, 1_200, 0).await;
    counted(&pool, forum.as_uuid(), 2, 777, 0).await;
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let of = async |viewer: &mut crate::browser::Browser, site: SiteId| {
        viewer.get(&path(&stage, &format!("?site={site}"))).await
    };
    let shown = of(&mut viewer, forum).await.text;
    assert!(shown.contains(">777</p>"), "{shown}");
    assert!(!shown.contains(">1,200</p>"), "{shown}");
    let chosen = format!("<option value=\"{forum}\" selected>{ESCAPED}</option>");
    assert!(shown.contains(&chosen), "{shown}");
    assert!(!shown.contains("<script>alert"), "{shown}");
    let empty = of(&mut viewer, quiet).await.text;
    assert!(empty.contains("No verdicts in the last 24 hours."));
    assert!(empty.contains("none was sent"), "{empty}");

    let caller = Caller::command_line(&stage.management);
    let name = "Other".parse().unwrap();
    let other = management::teams::create(&caller, &name, None);
    let other = other.await.unwrap().id;
    let new = management::provisioning::NewSite {
        name: "Foreign".parse().unwrap(),
        group: "Foreign".parse().unwrap(),
        rules: domain::rules::InputRules::default(),
    };
    let foreign = management::provisioning::site(&caller, other, new).await;
    let foreign = foreign.unwrap().0.site.id;
    counted(&pool, foreign.as_uuid(), 2, 4_321, 0).await;
    counted(&pool, other.as_uuid(), 2, 4_321, 0).await;
    let theirs = of(&mut viewer, foreign).await;
    let nobodys = of(&mut viewer, SiteId::from(Uuid::now_v7())).await;
    assert_eq!(theirs.status, StatusCode::NOT_FOUND, "{}", theirs.text);
    assert_eq!(theirs.text, nobodys.text);
    let unreadable = viewer.get(&path(&stage, "?site=x")).await;
    assert_eq!(unreadable.status, StatusCode::NOT_FOUND);
    let own = viewer.get(&path(&stage, "")).await.text;
    assert!(!own.contains("4,321"), "{own}");
    let team = viewer.get(&format!("/t/{other}/overview")).await;
    let none = viewer.get(&format!("/t/{}/overview", Uuid::now_v7())).await;
    assert_eq!((team.status, team.text), (none.status, none.text));
    assert_ne!(team.status, StatusCode::OK);
}

#[sqlx::test(migrations = false)]
async fn the_rules_that_decided_most_lead_to_their_groups(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let team = stage.team.as_uuid();
    site(&stage, HOSTILE).await;
    let groups = rule_groups::list(&Caller::command_line(&stage.management), Page::ONE).await;
    let group = groups.unwrap().remove(0).id;
    counted(&pool, team, 2, 1, 0).await;
    matched(&pool, team, group.as_uuid(), Some(HOSTILE), 300).await;
    matched(&pool, team, Uuid::now_v7(), Some("Gone"), 60).await;
    matched(&pool, team, Uuid::nil(), None, 40).await;
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let shown = viewer.get(&path(&stage, "")).await.text;
    let rule = format!("<a href=\"/t/{}/rules/{group}\">{ESCAPED}</a>", stage.team);
    assert!(shown.contains(&rule), "{shown}");
    assert!(shown.contains("data-label=\"Items\">300</td>"), "{shown}");
    assert!(
        shown.contains("<span class=\"hidden\">75 %</span>"),
        "{shown}"
    );
    let gone = "<td dir=\"auto\">Gone</td><td class=\"group\" data-label=\"Group\"><span class=\"quiet\">deleted</span>";
    assert!(shown.contains(gone), "{shown}");
    assert!(!shown.contains("<script>alert"), "{shown}");
}

#[sqlx::test(migrations = false)]
async fn a_rule_that_decided_shows_its_kind_while_the_live_version_has_it(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let team = stage.team.as_uuid();
    counted(&pool, team, 2, 1, 0).await;
    let rules = r#"[{"name": "Words", "type": "keyword", "keywords": ["x"], "effect": "reject"}]"#;
    let new = rule_groups::NewRuleGroup {
        name: "Group".parse().unwrap(),
        team: Some(stage.team),
        rules: serde_json::from_str(rules).unwrap(),
        note: None,
    };
    let created = rule_groups::create(&Caller::command_line(&stage.management), new).await;
    let group = created.unwrap().group.id;
    let rule: Uuid = sqlx::query_scalar(
        "select (v.rules -> 0 ->> 'id')::uuid from rule_group_versions v join rule_groups g on g.live_version_id = v.id
        where g.id = $1",
    )
    .bind(group.as_uuid())
    .fetch_one(&pool)
    .await
    .unwrap();
    matched(&pool, team, group.as_uuid(), Some("Words"), 3).await;
    matched(&pool, team, group.as_uuid(), Some("Removed"), 2).await;
    sqlx::query("update statistics_rules set rule_id = $1 where name = 'Words'")
        .bind(rule)
        .execute(&pool)
        .await
        .unwrap();
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let shown = viewer.get(&path(&stage, "")).await.text;
    assert!(
        shown.contains(">Words</a> <small>keyword</small>"),
        "{shown}"
    );
    assert!(shown.contains(">Removed</a></td>"), "{shown}");
}
