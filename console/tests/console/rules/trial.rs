//! Trying a text.

use poem::http::StatusCode;
use sqlx::PgPool;

use super::team::{Room, escaped, form, hostile};

#[sqlx::test(migrations = false)]
async fn a_text_is_tried_on_the_draft_beside_the_live_version(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let group = room.group("House rules").await;
    room.word(&group, "Words", "blockedword").await;
    let text = format!("{} so much b.l.o.c.k.e.d.w.o.r.d here", hostile());
    let tried = room
        .admin
        .post(&format!("{group}/try"), &form(&[("text", &text)]))
        .await;
    assert_eq!(tried.status, StatusCode::OK, "{}", tried.text);
    for part in [
        "<b>rejected</b>",
        "version 1 says",
        "<mark class=\"no\" title=\"Words\">b.l.o.c.k.e.d.w.o.r.d</mark>",
        "in disguise",
        &escaped(),
    ] {
        assert!(tried.text.contains(part), "{part}: {}", tried.text);
    }
    assert!(!tried.text.contains("<script>alert"));

    let nothing = room.admin.post(&format!("{group}/try"), "text=").await;
    assert_eq!(nothing.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        nothing.text.contains("id=\"text-problem\""),
        "{}",
        nothing.text
    );
    let wrong = form(&[("text", "hello"), ("score-violence", "much")]);
    let wrong = room.admin.post(&format!("{group}/try"), &wrong).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        wrong.text.contains("id=\"score-violence-problem\""),
        "{}",
        wrong.text
    );
}

#[sqlx::test(migrations = false)]
async fn a_text_is_tried_with_scores_that_are_typed(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let group = room.group("House rules").await;
    let revision = room.revision(&group).await;
    let sent = form(&[
        ("revision", &revision),
        ("type", "ai_threshold"),
        ("name", "Violence"),
        ("category", "violence"),
        ("review_at", "0.5"),
        ("reject_at", "0.8"),
        ("enabled", "yes"),
    ]);
    room.admin
        .post(&format!("{group}/rules/new"), &sent)
        .await
        .leads_to();
    for (score, status) in [
        ("0.6", "pending_review"),
        ("0.9", "rejected"),
        ("0.1", "approved"),
    ] {
        let sent = form(&[("text", "hello"), ("score-violence", score)]);
        let tried = room.admin.post(&format!("{group}/try"), &sent).await;
        assert!(
            tried.text.contains(&format!("<b>{status}</b>")),
            "{score}: {}",
            tried.text
        );
    }
    let unscored = room
        .admin
        .post(&format!("{group}/try"), "text=hello&ask=yes")
        .await;
    assert!(
        unscored.text.contains("Not scored: violence"),
        "{}",
        unscored.text
    );
    assert!(
        unscored.text.contains("No provider gave a score"),
        "{}",
        unscored.text
    );
}
