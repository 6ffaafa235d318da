//! The settings of a group.

use domain::role::Role;
use poem::http::StatusCode;
use sqlx::PgPool;

use super::team::{Room, escaped, form, hostile};

#[sqlx::test(migrations = false)]
async fn who_renames_a_group_after_somebody_else_is_told(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let group = room.group("House rules").await;
    let settings = format!("{group}/settings");
    let page = room.admin.get(&settings).await.text;
    assert!(
        page.contains("name=\"seen\" value=\"House rules\""),
        "{page}"
    );
    let mut eve = room.stage.person("eve@market.example", Role::Admin).await;
    let sent = form(&[("seen", "House rules"), ("name", &hostile())]);
    eve.post(&settings, &sent).await.leads_to();
    let sent = form(&[("seen", "House rules"), ("name", "Mine")]);
    let late = room.admin.post(&settings, &sent).await;
    assert_eq!(late.status, StatusCode::CONFLICT, "{}", late.text);
    assert!(
        late.text.contains("Ada has changed this since"),
        "{}",
        late.text
    );
    assert!(late.text.contains("value=\"Mine\""), "what was typed stays");
    let seen = format!("name=\"seen\" value=\"{}", escaped());
    assert!(late.text.contains(&seen), "{}", late.text);
    let sent = form(&[("seen", &hostile()), ("name", "Mine")]);
    room.admin.post(&settings, &sent).await.leads_to();
}

#[sqlx::test(migrations = false)]
async fn a_group_is_renamed_and_deleted_when_its_name_is_typed(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let group = room.group("House rules").await;
    room.group("Taken").await;
    let settings = format!("{group}/settings");
    for (name, why) in [("", "Must have 1 to 100 characters"), ("Taken", "")] {
        let refused = room.admin.post(&settings, &form(&[("name", name)])).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{name}");
        let told = super::team::problem(&refused.text, "name");
        assert!(told.starts_with(why), "{told}");
    }
    let renamed = room
        .admin
        .post(&settings, &form(&[("name", &hostile())]))
        .await;
    assert!(renamed.leads_to().ends_with("?done=group-renamed"));
    let shown = room.admin.get(&settings).await.text;
    assert!(
        shown.contains(&escaped()) && !shown.contains("<script>alert"),
        "{shown}"
    );

    let mut viewer = room
        .stage
        .person("viewer@market.example", Role::Viewer)
        .await;
    let seen = viewer.get(&settings).await.text;
    assert!(
        !seen.contains("Rename") && !seen.contains("/delete"),
        "{seen}"
    );
    let right = form(&[("typed", &hostile())]);
    let refused = viewer.post(&format!("{group}/delete"), &right).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let wrong = room
        .admin
        .post(&format!("{group}/delete"), "typed=House+rules")
        .await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        wrong.text.contains("id=\"typed-problem\""),
        "{}",
        wrong.text
    );
    let deleted = room.admin.post(&format!("{group}/delete"), &right).await;
    assert!(deleted.leads_to().ends_with("/rules?done=group-deleted"));
    assert_eq!(room.admin.get(&group).await.status, StatusCode::NOT_FOUND);
    assert_eq!(room.audited("rule_group.delete").await, 1);
}

#[sqlx::test(migrations = false)]
async fn a_group_is_attached_to_a_site_and_detached(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let group = room.group("House rules").await;
    let sent = form(&[("name", "Forum"), ("group", "")]);
    let new = format!("/t/{}/sites/new", room.stage.team);
    assert_eq!(room.admin.post(&new, &sent).await.status, StatusCode::OK);
    let settings = format!("{group}/settings");
    let shown = room.admin.get(&settings).await.text;
    assert!(shown.contains("does not judge"), "{shown}");
    assert!(
        shown.contains("Its default group would not judge any more."),
        "{shown}"
    );
    let attach = crate::browser::between(&shown, &format!("action=\"{group}/sites/"), "\"");
    let attach = format!("{group}/sites/{attach}");
    let mut viewer = room
        .stage
        .person("viewer@market.example", Role::Viewer)
        .await;
    assert_eq!(viewer.post(&attach, "").await.status, StatusCode::FORBIDDEN);
    assert!(!viewer.get(&settings).await.text.contains("Attach"));
    let attached = room.admin.post(&attach, "").await;
    assert!(attached.leads_to().ends_with("?done=group-attached"));
    let shown = room.admin.get(&settings).await.text;
    assert!(
        shown.contains("Judges for") && shown.contains(">judges<"),
        "{shown}"
    );
    let listed = room.admin.get(&room.rules).await.text;
    // The group with which the site was created is its default group, which does not judge any more.
    assert_eq!(listed.matches("no site").count(), 1, "{listed}");
    let held = room
        .admin
        .post(&format!("{group}/delete"), "typed=House+rules")
        .await;
    assert_eq!(held.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        held.text.contains("The group judges for sites"),
        "{}",
        held.text
    );
    let detached = room
        .admin
        .post(&attach.replace("/attach", "/detach"), "")
        .await;
    assert!(detached.leads_to().ends_with("?done=group-detached"));
    assert_eq!(room.audited("site.update").await, 2);
}
