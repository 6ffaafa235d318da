//! Rules: the groups of a team, and what all pages of a group have in common.

mod draft;
mod forms;
mod hits;
mod settings;
pub(crate) mod team;
mod trial;
mod versions;

use domain::role::Role;
use poem::http::{StatusCode, header};
use sqlx::PgPool;

use self::team::{Room, escaped, form, hostile};

#[sqlx::test(migrations = false)]
async fn an_admin_creates_groups_and_a_viewer_is_not_offered_it(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let empty = room.admin.get(&room.rules).await;
    assert!(
        empty.text.contains("Create the first group"),
        "{}",
        empty.text
    );
    let new = format!("{}/new", room.rules);
    assert_eq!(room.admin.get(&new).await.status, StatusCode::OK);
    let wrong = room.admin.post(&new, "name=").await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        wrong
            .text
            .contains("id=\"name-problem\">Must have 1 to 100 characters"),
        "{}",
        wrong.text
    );
    let group = room.group(&hostile()).await;
    let taken = room.admin.post(&new, &form(&[("name", &hostile())])).await;
    assert_eq!(taken.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(taken.text.contains("id=\"name-problem\""), "{}", taken.text);
    let listed = room.admin.get(&room.rules).await.text;
    assert!(listed.contains(&escaped()), "{listed}");
    assert!(listed.contains("no site"), "{listed}");
    let shown = room.admin.get(&group).await.text;
    assert!(shown.contains(&escaped()), "{shown}");
    assert!(!shown.contains("<script>alert"), "{shown}");

    let mut viewer = room
        .stage
        .person("viewer@market.example", Role::Viewer)
        .await;
    let listed = viewer.get(&room.rules).await.text;
    assert!(
        listed.contains(&escaped()) && !listed.contains("New group"),
        "{listed}"
    );
    let shown = viewer.get(&group).await.text;
    for hidden in ["Add a rule", "Review and publish", "/try", "Import YAML"] {
        assert!(!shown.contains(hidden), "{hidden}: {shown}");
    }
    for path in ["/try", "/import", "/rules/new"] {
        let refused = viewer.get(&format!("{group}{path}")).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{path}");
    }
    assert_eq!(viewer.get(&new).await.status, StatusCode::FORBIDDEN);
    let refused = viewer.post(&new, "name=Mine").await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
}

#[sqlx::test(migrations = false)]
async fn a_group_comes_from_yaml_and_goes_back_to_it(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let new = format!("{}/new", room.rules);
    let wrong = "name: From a file\nrules:\n- name: a\n  type: magic\n- name: b\n  type: regex\n  pattern: (\n  effect: never\n";
    let sent = form(&[("from_file", "yes"), ("yaml", wrong)]);
    let refused = room.admin.post(&new, &sent).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    for mistake in [
        "rules[0].type",
        "line 4, column 9",
        "rules[1].effect",
        "line 8",
    ] {
        assert!(
            refused.text.contains(mistake),
            "{mistake}: {}",
            refused.text
        );
    }
    assert!(refused.text.contains("type: magic"), "what was typed stays");

    let file = "name: From a file\nrules:\n- name: Words\n  type: keyword\n  keywords: [blockedword]\n  effect: reject\n";
    let sent = form(&[("from_file", "yes"), ("yaml", file)]);
    let created = room.admin.post(&new, &sent).await;
    let group = created.leads_to().split('?').next().unwrap().to_owned();
    let twice = room.admin.post(&new, &sent).await;
    assert_eq!(
        twice.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{}",
        twice.text
    );

    let exported = room.admin.get(&format!("{group}/yaml")).await;
    let disposition = exported.headers[header::CONTENT_DISPOSITION]
        .to_str()
        .unwrap();
    assert!(
        disposition.starts_with("attachment; filename="),
        "{disposition}"
    );
    assert!(exported.text.contains("blockedword"), "{}", exported.text);

    let import = format!("{group}/import");
    let yaml = exported.text.replace("blockedword", "otherword");
    let broken = form(&[("revision", "1"), ("yaml", "name: [\n")]);
    let refused = room.admin.post(&import, &broken).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.text.contains("line"), "{}", refused.text);
    let outdated = form(&[("revision", "99"), ("yaml", &yaml)]);
    let refused = room.admin.post(&import, &outdated).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(refused.text.contains("otherword"), "what was typed stays");
    let revision = room.revision(&group).await;
    let sent = form(&[("revision", &revision), ("yaml", &yaml)]);
    let imported = room.admin.post(&import, &sent).await;
    assert!(imported.leads_to().ends_with("?done=draft-imported"));
    let shown = room.admin.get(&group).await.text;
    assert!(
        shown.contains("otherword") && shown.contains("changed"),
        "{shown}"
    );
    let draft = room
        .admin
        .get(&format!("{group}/yaml?version=draft"))
        .await
        .text;
    assert!(draft.contains("otherword"), "{draft}");
    let live = room.admin.get(&format!("{group}/yaml")).await.text;
    assert!(live.contains("blockedword"), "{live}");
}

#[sqlx::test(migrations = false)]
async fn a_group_of_another_team_is_answered_like_one_that_is_not_there(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let group = room.group("Ours").await;
    let id = group.rsplit('/').next().unwrap().to_owned();
    let mut stranger = room.stranger("owner@elsewhere.example").await;
    for rest in [
        "",
        "/rules/new",
        "/rules/01980f6d-11aa-7bbb-8ccc-0123456789ab",
        "/yaml",
        "/import",
        "/try",
        "/publish",
        "/versions",
        "/versions/01980f6d-11aa-7bbb-8ccc-0123456789ab",
        "/compare",
        "/shadow",
        "/shadow/01980f6d-11aa-7bbb-8ccc-0123456789ab",
        "/backtests",
        "/backtests/01980f6d-11aa-7bbb-8ccc-0123456789ab",
        "/settings",
    ] {
        let there = format!("{}/{id}{rest}", stranger.rules);
        let nowhere = there.replace(&id, "01980f6d-12aa-7bbb-8ccc-0123456789ab");
        let foreign = stranger.browser.get(&there).await;
        let missing = stranger.browser.get(&nowhere).await;
        assert_eq!(foreign.status, StatusCode::NOT_FOUND, "{rest}");
        assert_eq!(foreign.text, missing.text, "{rest}");
        // The path of our team does not let them in either, and tells nothing.
        let ours = format!("{group}{rest}");
        let none = ours.replace(
            &room.stage.team.to_string(),
            "01980f6d-13aa-7bbb-8ccc-0123456789ab",
        );
        let (ours, none) = (
            stranger.browser.get(&ours).await,
            stranger.browser.get(&none).await,
        );
        assert_ne!(ours.status, StatusCode::OK, "{rest}");
        assert_eq!((ours.status, ours.text), (none.status, none.text), "{rest}");
    }
    for (rest, sent) in [
        (
            "/rules/new",
            "type=keyword&name=a&keywords=b&effect=reject&revision=1",
        ),
        ("/discard", "typed=Ours"),
        ("/publish", "revision=1"),
        ("/shadow", "revision=1"),
        ("/shadow/end", ""),
        ("/backtests", ""),
        ("/settings", "name=Theirs"),
        ("/delete", "typed=Ours"),
        ("/try", "text=hello"),
        ("/import", "revision=1&yaml=name:+x"),
    ] {
        let there = format!("{}/{id}{rest}", stranger.rules);
        let foreign = stranger.browser.post(&there, sent).await;
        assert_ne!(foreign.status, StatusCode::SEE_OTHER, "{rest}");
        let nowhere = there.replace(&id, "01980f6d-12aa-7bbb-8ccc-0123456789ab");
        let missing = stranger.browser.post(&nowhere, sent).await;
        assert_eq!(foreign.text, missing.text, "{rest}");
        assert_eq!(foreign.status, missing.status, "{rest}");
    }
    let kept = room.admin.get(&group).await;
    assert!(kept.text.contains("Ours"), "{}", kept.text);
}
