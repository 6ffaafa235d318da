//! The forms of the five kinds of rules.

use domain::image_hash::ListKind;
use management::{
    Caller,
    hash_lists::{self, NewHashList},
};
use poem::http::StatusCode;
use sqlx::PgPool;

use super::team::{Room, escaped, form, hostile};

/// A kind, fields that are wrong, where and how that is told, and fields that are right.
struct Case<'a> {
    kind: &'a str,
    wrong: Vec<(&'a str, &'a str)>,
    told: Vec<(&'a str, &'a str)>,
    right: Vec<(&'a str, &'a str)>,
    /// What the list of rules then shows.
    shown: &'a str,
}

fn cases(list: &str) -> Vec<Case<'_>> {
    vec![
        Case {
            kind: "keyword",
            wrong: vec![
                ("name", ""),
                ("keywords", "fine\n...\n"),
                ("matching", "maybe"),
                ("effect", "reject"),
            ],
            told: vec![("matching", "Must be one of the choices.")],
            right: vec![
                ("name", "Words"),
                ("keywords", "blockedword\n two words \n\n"),
                ("exceptions", "unblockedwords"),
                ("matching", "substring"),
                ("effect", "reject"),
            ],
            shown: "<code dir=\"auto\">two words</code>",
        },
        Case {
            kind: "regex",
            wrong: vec![
                ("name", ""),
                ("pattern", "order-(\\d{4}"),
                ("effect", "review"),
            ],
            told: vec![
                ("name", "Must have 1 to 200 characters."),
                ("pattern", "Unclosed group (at character 7)."),
            ],
            right: vec![
                ("name", "Orders"),
                ("pattern", "order-\\d{4}"),
                ("effect", "review"),
            ],
            shown: "order-\\d{4}",
        },
        Case {
            kind: "link",
            wrong: vec![
                ("name", "Links"),
                ("policy", "deny"),
                ("domains", "fine.example\nhttps://short.example/x"),
                ("effect", "review"),
            ],
            told: vec![(
                "domains",
                "“https://short.example/x”: must be a domain without scheme",
            )],
            right: vec![
                ("name", "Links"),
                ("policy", "allow"),
                ("domains", "market.example"),
                ("effect", "review"),
            ],
            shown: "links to others than",
        },
        Case {
            kind: "image_hash",
            wrong: vec![("name", "Images"), ("effect", "reject")],
            told: vec![("lists", "At least one list is required.")],
            right: vec![("name", "Images"), ("lists", list), ("effect", "reject")],
            shown: "Known spam",
        },
        Case {
            kind: "ai_threshold",
            wrong: vec![
                ("name", "Score"),
                ("category", "violence"),
                ("review_at", "0.9"),
                ("reject_at", "0.8"),
            ],
            told: vec![("review_at", "Must not be greater than `reject_at`.")],
            right: vec![
                ("name", "Score"),
                ("category", "violence"),
                ("review_at", "0.5"),
                ("reject_at", "0.8"),
            ],
            shown: "review from 0.5, reject from 0.8",
        },
    ]
}

#[sqlx::test(migrations = false)]
async fn each_kind_has_a_form_that_tells_mistakes_at_their_fields(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let list = NewHashList {
        name: "Known spam".parse().unwrap(),
        description: None,
        kind: ListKind::Deny,
        max_distance: None,
        team: Some(room.stage.team),
    };
    let list = hash_lists::create(&Caller::command_line(&room.stage.management), list).await;
    let list = list.unwrap().id.to_string();
    let group = room.group("House rules").await;
    let new = format!("{group}/rules/new");
    for (place, case) in cases(&list).into_iter().enumerate() {
        let page = room.admin.get(&format!("{new}?kind={}", case.kind)).await;
        assert_eq!(page.status, StatusCode::OK, "{}", case.kind);
        let revision = room.revision(&group).await;
        let common = [
            ("revision", revision.as_str()),
            ("type", case.kind),
            ("enabled", "yes"),
        ];
        let sent = form(&[&common[..], &case.wrong].concat());
        let refused = room.admin.post(&new, &sent).await;
        assert_eq!(
            refused.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{}",
            case.kind
        );
        for (field, message) in &case.told {
            let told = super::team::problem(&refused.text, field);
            assert!(told.starts_with(message), "{} {field}: {told}", case.kind);
        }
        let sent = form(&[&common[..], &case.right].concat());
        let saved = room.admin.post(&new, &sent).await;
        assert!(saved.leads_to().ends_with("?done=rule-saved"));
        let shown = room.admin.get(&group).await.text;
        assert!(shown.contains(case.shown), "{}: {shown}", case.kind);

        // The form of the rule that is there has what was typed, and the rule stays the same one.
        let rule = room.rule(&group, place).await;
        let page = room.admin.get(&rule).await;
        assert_eq!(page.status, StatusCode::OK, "{}: {}", case.kind, page.text);
        let revision = room.revision(&group).await;
        let mut changed = [("revision", revision.as_str()), ("type", case.kind)].to_vec();
        changed.extend(case.right.iter().filter(|(field, _)| *field != "name"));
        changed.push(("name", "Renamed"));
        let saved = room.admin.post(&rule, &form(&changed)).await;
        assert!(saved.leads_to().ends_with("?done=rule-saved"));
        assert_eq!(room.rule(&group, place).await, rule, "{}", case.kind);
        let shown = room.admin.get(&group).await.text;
        assert!(
            shown.contains("<span class=\"badge\">off</span>"),
            "{shown}"
        );
    }
    // Each rule was added and then changed.
    assert_eq!(room.audited("rule_group.edit").await, 10);
}

#[sqlx::test(migrations = false)]
async fn what_a_person_types_is_shown_escaped(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let group = room.group("House rules").await;
    room.word(&group, &hostile(), &hostile()).await;
    let rule = room.rule(&group, 0).await;
    for path in [
        &group,
        &rule,
        &format!("{group}/publish"),
        &format!("{group}/compare"),
    ] {
        let page = room.admin.get(path).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        assert!(page.text.contains(&escaped()), "{path}: {}", page.text);
        assert!(!page.text.contains("<script>alert"), "{path}");
    }
    let found = room
        .admin
        .get(&format!("{group}?{}", form(&[("q", &hostile())])))
        .await
        .text;
    assert!(found.contains(&format!("value=\"{}", escaped())), "{found}");
    let revision = room.revision(&group).await;
    for kind in ["keyword", "regex", "link", "image_hash", "ai_threshold"] {
        let text = hostile();
        let mut fields = vec![("revision", revision.as_str()), ("type", kind)];
        for field in [
            "name",
            "keywords",
            "exceptions",
            "matching",
            "pattern",
            "policy",
            "domains",
            "lists",
            "category",
            "review_at",
            "reject_at",
            "effect",
        ] {
            fields.push((field, &text));
        }
        let refused = room
            .admin
            .post(&format!("{group}/rules/new"), &form(&fields))
            .await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{kind}");
        assert!(
            refused.text.contains(&escaped()),
            "{kind}: {}",
            refused.text
        );
        assert!(!refused.text.contains("<script>alert"), "{kind}");
    }
}

#[sqlx::test(migrations = false)]
async fn a_rule_that_a_form_would_change_is_not_offered_in_one(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let yaml = "name: From a file\nrules:\n- {name: a, type: keyword, keywords: [\"two\\nlines\"], effect: reject}\n\
        - {name: b, type: link, policy: deny, domains: [a.example], effect: review}\n";
    let words: Vec<String> = (0..1100).map(|number| format!("{number:095}")).collect();
    let words = words.join("', '");
    let yaml =
        format!("{yaml}- {{name: c, type: keyword, keywords: ['{words}'], effect: reject}}\n");
    let sent = form(&[("from_file", "yes"), ("yaml", &yaml)]);
    let created = room.admin.post(&format!("{}/new", room.rules), &sent).await;
    let group = created.leads_to().split('?').next().unwrap().to_owned();
    let altered = room.rule(&group, 0).await;
    let page = room.admin.get(&altered).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(
        page.text.contains("Please edit this rule in a file"),
        "{}",
        page.text
    );
    assert!(!page.text.contains("Save to the draft"), "{}", page.text);
    let large = room.rule(&group, 2).await;
    let page = room.admin.get(&large).await;
    assert!(
        page.text.contains("larger than what a form holds"),
        "{}",
        page.text
    );
    let plain = room.rule(&group, 1).await;
    let page = room.admin.get(&plain).await;
    assert!(page.text.contains("Save to the draft"), "{}", page.text);
}
