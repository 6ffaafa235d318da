//! Pages of the desk: nobody can tell audits and items whose answer is known from other reviews.

use std::fmt::Write as _;

use domain::{id::MediaId, role::Role, rules::RuleEffect};
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

use crate::{
    browser::Stage,
    seed::{Judged, keyword},
};

/// A page whose ids and times are replaced: ids by their version.
fn shape(page: &str) -> String {
    let mut shape = String::new();
    let mut rest = page;
    while let Some(next) = rest.chars().next() {
        let id = rest.get(..36).and_then(|start| start.parse::<Uuid>().ok());
        if let Some(id) = id {
            write!(shape, "<id of version {}>", id.get_version_num()).unwrap();
            rest = &rest[36..];
        } else if rest.starts_with("<time ") {
            shape.push_str("<time>");
            rest = rest.split_once("</time>").unwrap().1;
        } else {
            shape.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    shape
}

/// An item that waits for a person. All are the same.
async fn waiting(stage: &Stage, site: domain::id::SiteId) -> MediaId {
    let item = Judged {
        violations: vec![keyword("Contact", RuleEffect::Review, 0..1)],
        metadata: Some(json!({ "listing": 7 })),
        ..Judged::text("The same words.")
    };
    stage.judged(site, item).await
}

/// A person decides about an item, and it comes back like this.
async fn comes_back(stage: &Stage, media: MediaId, kind: &str, only_for: Option<Uuid>) {
    let pool = &stage.management.pool;
    sqlx::query(
        "insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace)
         select media_id, 2, 'rejected', status, 'manual', details, trace from verdicts where media_id = $1",
    )
    .bind(media.as_uuid())
    .execute(pool)
    .await
    .unwrap();
    for statement in [
        "insert into review_notes (id, media_id, team_id, actor_id, body)
         select gen_random_uuid(), id, team_id, gen_random_uuid(), 'Clearly hate.' from media where id = $1",
        "update media set status = 'rejected', verdict = 2 where id = $1",
        "delete from reviews where media_id = $1",
    ] {
        sqlx::query(statement)
            .bind(media.as_uuid())
            .execute(pool)
            .await
            .unwrap();
    }
    // As `crates/store/src/review/undo_expired/follow_up.rs` opens them.
    sqlx::query(
        "insert into review_tasks (
             id, media_id, team_id, site_id, kind, verdict, severity, categories, rules, waiting_since, due_at, only_for
         )
         select
             gen_random_uuid(), m.id, m.team_id, m.site_id, $2, 2, p.severity, f.categories, f.rules, clock_timestamp(),
             clock_timestamp() + interval '1 day', $3
         from media m
         cross join lateral review_flags(m.id) f
         cross join lateral review_urgency(m.team_id, f.categories, f.rules) p
         where m.id = $1",
    )
    .bind(media.as_uuid())
    .bind(kind)
    .bind(only_for)
    .execute(pool)
    .await
    .unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_known_answer_an_audit_and_any_other_review_are_the_same_page(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Forum").await;
    let mut mo = stage.person("mo@market.example", Role::Moderator).await;
    let member: Uuid = sqlx::query_scalar("select id from memberships")
        .fetch_one(&stage.management.pool)
        .await
        .unwrap();
    let known = waiting(&stage, site).await;
    comes_back(&stage, known, "golden", Some(member)).await;
    let audited = waiting(&stage, site).await;
    comes_back(&stage, audited, "audit", None).await;
    waiting(&stage, site).await;

    let desk = format!("/t/{}/desk", stage.team);
    assert!(
        mo.get(&desk)
            .await
            .text
            .contains("3 items wait for a person.")
    );
    let mut kinds = Vec::new();
    let mut seen = Vec::new();
    for _ in 0..3 {
        let begun = mo.post(&format!("{desk}/claim"), "").await;
        let path = begun.leads_to().to_owned();
        let id: Uuid = path.split('/').nth(4).unwrap().parse().unwrap();
        let kind: String = sqlx::query_scalar("select kind from review_tasks where id = $1")
            .bind(id)
            .fetch_one(&stage.management.pool)
            .await
            .unwrap();
        kinds.push(kind);
        let page = mo.get(&path).await;
        assert!(page.text.contains("he same words."), "{}", page.text);
        let again = mo
            .post(&format!("{path}/decision"), "decision=reject")
            .await;
        let decided = mo
            .post(&format!("{path}/decision"), "decision=approve")
            .await;
        seen.push([
            shape(&page.text),
            shape(&again.text),
            decided.status.to_string(),
        ]);
        sqlx::query("update review_tasks set leased_by = null, leased_until = null where held_until is null")
            .execute(&stage.management.pool)
            .await
            .unwrap();
    }
    kinds.sort_unstable();
    assert_eq!(kinds, ["audit", "golden", "review"]);
    for pages in &seen[1..] {
        for (page, first) in pages.iter().zip(&seen[0]) {
            assert_eq!(page, first);
        }
    }
}
