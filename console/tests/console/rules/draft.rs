//! The draft: its rules in order, two editors, and discarding it.

use poem::http::StatusCode;
use sqlx::PgPool;

use super::team::{Room, form};
use domain::role::Role;

/// The places at which these texts are, in ascending order.
fn are_in_order(text: &str, parts: &[&str]) -> bool {
    let places: Vec<Option<usize>> = parts.iter().map(|part| text.find(part)).collect();
    places.iter().all(Option::is_some) && places.is_sorted()
}

#[sqlx::test(migrations = false)]
async fn rules_are_moved_switched_and_removed_beside_the_live_version(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let group = room.group("House rules").await;
    for name in ["First", "Second", "Third"] {
        room.word(&group, name, "word").await;
    }
    let shown = room.admin.get(&group).await.text;
    assert_eq!(shown.matches("badge ok\">new").count(), 3, "{shown}");
    assert!(shown.contains("3 changes beside version 1"), "{shown}");
    room.publish(&group).await;
    let shown = room.admin.get(&group).await.text;
    assert!(
        !shown.contains("badge ok\">new") && shown.contains("version 2 live"),
        "{shown}"
    );

    for (place, fields, done) in [
        (2, ("to", "0"), "rule-moved"),
        (1, ("on", "no"), "rule-off"),
        (2, ("remove", "yes"), "rule-removed"),
    ] {
        let rule = room.rule(&group, place).await;
        let revision = room.revision(&group).await;
        let sent = form(&[("revision", &revision), fields]);
        let changed = room.admin.post(&format!("{rule}/change"), &sent).await;
        assert!(changed.leads_to().ends_with(done), "{done}");
    }
    let shown = room.admin.get(&group).await.text;
    assert!(
        are_in_order(&shown, &[">Third<", ">First<", ">Second<"]),
        "{shown}"
    );
    for sign in [
        "badge \">moved",
        "badge warn\">changed",
        "badge\">off",
        "badge no\">removed",
    ] {
        assert!(shown.contains(sign), "{sign}: {shown}");
    }

    let found = room.admin.get(&format!("{group}?q=thi")).await.text;
    assert!(
        found.contains(">Third<") && !found.contains(">First<"),
        "{found}"
    );
    let none = room.admin.get(&format!("{group}?q=nowhere")).await.text;
    assert!(!none.contains(">Third<"), "{none}");

    // A form that asks for nothing changes nothing.
    let rule = room.rule(&group, 0).await;
    let revision = room.revision(&group).await;
    let nothing = form(&[("revision", &revision)]);
    let refused = room.admin.post(&format!("{rule}/change"), &nothing).await;
    assert_eq!(refused.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert!(room.admin.get(&group).await.text.contains(">Third<"));

    let mut viewer = room
        .stage
        .person("viewer@market.example", Role::Viewer)
        .await;
    let rule = room.rule(&group, 0).await;
    let revision = room.revision(&group).await;
    let sent = form(&[("revision", &revision), ("remove", "yes")]);
    let refused = viewer.post(&format!("{rule}/change"), &sent).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
}

#[sqlx::test(migrations = false)]
async fn a_long_list_of_rules_is_shown_in_parts(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let rules = (1..=150).map(|number| {
        format!("- {{name: rule {number:03}, type: regex, pattern: x{number}, effect: review}}\n")
    });
    let yaml = format!("name: Many\nrules:\n{}", rules.collect::<String>());
    let sent = form(&[("from_file", "yes"), ("yaml", &yaml)]);
    let created = room.admin.post(&format!("{}/new", room.rules), &sent).await;
    let group = created.leads_to().split('?').next().unwrap().to_owned();
    let first = room.admin.get(&group).await.text;
    assert!(
        first.contains("rule 100<") && !first.contains("rule 101<"),
        "{first}"
    );
    assert!(first.contains("href=\"?from=100\""), "{first}");
    let second = room.admin.get(&format!("{group}?from=100")).await.text;
    assert!(
        second.contains("rule 101<") && second.contains("rule 150<"),
        "{second}"
    );
    assert!(!second.contains("rule 100<"), "{second}");
    for beyond in ["18446744073709551615", "-1", "x"] {
        let page = room.admin.get(&format!("{group}?from={beyond}")).await;
        assert_eq!(page.status, StatusCode::OK, "{beyond}");
    }
}

#[sqlx::test(migrations = false)]
async fn of_two_editors_the_second_is_told_and_loses_nothing(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let group = room.group("House rules").await;
    room.word(&group, "Words", "blockedword").await;
    let rule = room.rule(&group, 0).await;
    let revision = room.revision(&group).await;
    let typed = |revision: &str, word: &str| {
        form(&[
            ("revision", revision),
            ("type", "keyword"),
            ("name", "Words"),
            ("keywords", word),
            ("matching", "whole_word"),
            ("effect", "reject"),
            ("enabled", "yes"),
        ])
    };
    let first = room.admin.post(&rule, &typed(&revision, "firstword")).await;
    assert!(first.leads_to().ends_with("?done=rule-saved"));
    let second = room
        .admin
        .post(&rule, &typed(&revision, "secondword"))
        .await;
    assert_eq!(second.status, StatusCode::CONFLICT);
    for part in ["What you typed is kept", "secondword", "firstword"] {
        assert!(second.text.contains(part), "{part}: {}", second.text);
    }
    let added = room
        .admin
        .post(
            &format!("{group}/rules/new"),
            &typed(&revision, "thirdword"),
        )
        .await;
    assert_eq!(added.status, StatusCode::CONFLICT);
    assert!(added.text.contains("thirdword"), "{}", added.text);
    // The answer of the conflict builds on the present draft.
    let now = crate::browser::between(&second.text, "name=\"revision\" value=\"", "\"").to_owned();
    let again = room.admin.post(&rule, &typed(&now, "secondword")).await;
    assert!(again.leads_to().ends_with("?done=rule-saved"));

    let outdated = form(&[("revision", &revision), ("remove", "yes")]);
    let refused = room.admin.post(&format!("{rule}/change"), &outdated).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(refused.text.contains("secondword"), "{}", refused.text);
    let refused = room
        .admin
        .post(&format!("{group}/publish"), &outdated)
        .await;
    assert_eq!(refused.status, StatusCode::CONFLICT);

    // If the rule was removed meanwhile, what was typed can become a new one.
    let now = room.revision(&group).await;
    let removed = form(&[("revision", &now), ("remove", "yes")]);
    room.admin
        .post(&format!("{rule}/change"), &removed)
        .await
        .leads_to();
    let overtaken = room.admin.post(&rule, &typed(&now, "lastword")).await;
    assert_eq!(overtaken.status, StatusCode::CONFLICT);
    assert!(
        overtaken
            .text
            .contains(&format!("action=\"{group}/rules/new\"")),
        "{}",
        overtaken.text
    );
    assert!(overtaken.text.contains("lastword"), "{}", overtaken.text);
    assert_eq!(room.admin.get(&rule).await.status, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrations = false)]
async fn a_draft_is_discarded_when_the_name_is_typed(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let group = room.group("House rules").await;
    room.word(&group, "Words", "blockedword").await;
    let wrong = room
        .admin
        .post(&format!("{group}/discard"), "typed=house+rules")
        .await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        wrong.text.contains("id=\"typed-problem\""),
        "{}",
        wrong.text
    );
    assert!(room.admin.get(&group).await.text.contains("blockedword"));
    let outdated = form(&[("revision", "1"), ("typed", "House rules")]);
    let refused = room
        .admin
        .post(&format!("{group}/discard"), &outdated)
        .await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(room.admin.get(&group).await.text.contains("blockedword"));
    let revision = room.revision(&group).await;
    let right = form(&[("revision", &revision), ("typed", "House rules")]);
    let done = room.admin.post(&format!("{group}/discard"), &right).await;
    assert!(done.leads_to().ends_with("?done=draft-discarded"));
    assert!(!room.admin.get(&group).await.text.contains("blockedword"));
}
