//! What a list finds by rule, category and author, alone and together, and what it reads for that.

mod authors;
mod bounds;

use chrono::{DateTime, TimeDelta, Utc};
use domain::{
    id::{MediaId, RuleId, SiteId},
    media::{ModerationType, Ruling, Status},
    reach::Reach,
    score::Category,
};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{item_progress::Progress, media::Filter, verdict::Concluded};
use uuid::Uuid;

use crate::tenant::Tenant;

fn rule(number: u128) -> RuleId {
    Uuid::from_u128(number).into()
}

/// A rule that matched the text.
fn matched(number: u128) -> Value {
    json!({ "rule_id": rule(number), "effect": "reject", "evidence": { "kind": "text", "view": "plain" } })
}

/// A rule that matched because of a score.
fn scored(number: u128, category: Category) -> Value {
    let evidence = json!({ "kind": "score", "category": category, "score": 0.9, "threshold": 0.5 });
    json!({ "rule_id": rule(number), "effect": "review", "evidence": evidence })
}

impl Tenant {
    /// The machine's verdict, with this evidence.
    async fn judge_by(&self, media: MediaId, status: Status, evidence: &[Value]) {
        let trace = json!({ "evidence": evidence, "unchecked": [], "unscored": ["spam"] });
        let verdict = Progress::from(Concluded {
            media,
            status,
            moderation_type: ModerationType::Rule,
            details: r#"{"rule_violations":[]}"#.into(),
            trace: trace.to_string(),
            shadows: Vec::new(),
        });
        self.finish(&[verdict]).await;
    }

    /// An item of this author.
    async fn item_by(&self, site: SiteId, at: DateTime<Utc>, name: &str, author: &str) -> MediaId {
        let media = self.item_of(site, at, Some(name)).await;
        sqlx::query("update media set author = $2 where id = $1")
            .bind(media.as_uuid())
            .bind(author)
            .execute(&self.pool)
            .await
            .unwrap();
        media
    }

    async fn sought(&self, filter: &Filter) -> Vec<MediaId> {
        let mut all = Vec::new();
        for limit in [1, 2, 100] {
            let pages = self.pages(Reach::Team(self.team), filter, limit).await;
            let found = pages.concat();
            assert!(all.is_empty() || all == found, "{limit}: {filter:?}");
            all = found;
        }
        all
    }
}

fn start() -> DateTime<Utc> {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

fn by_author(author: &str) -> Filter {
    Filter {
        author: Some(author.parse().unwrap()),
        ..Filter::default()
    }
}

#[sqlx::test(migrations = false)]
async fn rules_and_categories_are_those_of_the_machines_verdict_whatever_people_decided_later(
    pool: PgPool,
) {
    let fixture = Tenant::new(pool).await;
    let item = async |seconds| {
        let at = start() + TimeDelta::seconds(seconds);
        fixture.item_of(fixture.site, at, Some("name")).await
    };
    let (first, second, third) = (item(0).await, item(1).await, item(2).await);
    let fourth = item(3).await;
    // One that is still pending.
    item(4).await;
    let (review, hate) = (Status::PendingReview, Category::Hate);
    fixture
        .judge_by(first, Status::Rejected, &[matched(1)])
        .await;
    let evidence = [matched(1), scored(2, hate)];
    fixture.judge_by(second, review, &evidence).await;
    fixture
        .judge_by(third, review, &[scored(2, Category::Violence)])
        .await;
    fixture.judge_by(fourth, Status::Approved, &[]).await;
    // Overturned: the rule did match.
    fixture.rule(second, Ruling::Approve).await.unwrap();

    let all = Filter::default();
    let approved = Some(Status::Approved);
    for (rule_number, category, status, expected) in [
        (Some(1), None, None, vec![second, first]),
        (Some(2), None, None, vec![third, second]),
        (Some(3), None, None, vec![]),
        (None, Some(hate), None, vec![second]),
        // It is in the trace, but not as evidence.
        (None, Some(Category::Spam), None, vec![]),
        (Some(2), Some(hate), None, vec![second]),
        // Both matched, but this rule not because of that category.
        (Some(1), Some(hate), None, vec![]),
        (Some(1), None, approved, vec![second]),
        (Some(2), None, Some(review), vec![third]),
        (None, Some(hate), Some(review), vec![]),
        (None, Some(hate), approved, vec![second]),
    ] {
        for app_media_id in [None, Some("name".to_owned())] {
            let filter = Filter {
                rule: rule_number.map(rule),
                category,
                status,
                app_media_id,
                ..all.clone()
            };
            assert_eq!(fixture.sought(&filter).await, expected, "{filter:?}");
        }
    }
    let bounded = Filter {
        rule: Some(rule(1)),
        since: Some(start() + TimeDelta::seconds(1)),
        until: Some(start() + TimeDelta::seconds(3)),
        ..all
    };
    assert_eq!(fixture.sought(&bounded).await, [second]);
}

#[sqlx::test(migrations = false)]
async fn another_teams_items_are_found_by_no_filter(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let other = Tenant::another(&fixture.pool, "other").await;
    let theirs = other.item_by(other.site, start(), "a", "ada").await;
    let evidence = [scored(1, Category::Hate)];
    other
        .judge_by(theirs, Status::PendingReview, &evidence)
        .await;
    let all = Filter::default();
    for filter in [
        by_author("ada"),
        Filter {
            rule: Some(rule(1)),
            ..all.clone()
        },
        Filter {
            category: Some(Category::Hate),
            ..all.clone()
        },
        Filter {
            category: Some(Category::Hate),
            status: Some(Status::PendingReview),
            ..all.clone()
        },
        Filter {
            app_media_id: Some("a".into()),
            rule: Some(rule(1)),
            ..by_author("ada")
        },
        Filter {
            site: Some(other.site),
            ..by_author("ada")
        },
    ] {
        assert_eq!(fixture.sought(&filter).await, [], "{filter:?}");
        assert_eq!(other.sought(&filter).await, [theirs], "{filter:?}");
    }
}
