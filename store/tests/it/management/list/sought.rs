//! What a list finds by rule, category and author, alone and together, and what it reads for that.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{
    id::{MediaId, RuleId, SiteId},
    media::{ModerationType, Ruling, Status},
    reach::Reach,
    score::Category,
};
use serde_json::{Value, json};
use sqlx::{PgConnection, PgPool};
use store::{
    media::{Filter, WALKED, list},
    progress::Progress,
    verdict::Concluded,
};
use uuid::Uuid;

use super::fill;
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
async fn an_author_finds_exactly_the_own_items_and_any_character_is_only_a_character(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let other_site = fixture.create_site("second").await;
    let odd = [
        "%",
        "_",
        "a%",
        "\\",
        "'; drop table media; --",
        "\"",
        "$1",
        "null",
        "ADA",
        "ada",
        "ada ",
        "é",
        "e\u{301}",
        "😀\u{202e}\n\t",
        "{}",
    ];
    let mut own = Vec::new();
    for (n, author) in (0..).zip(odd) {
        let at = start() + TimeDelta::seconds(n);
        let older = fixture.item_by(fixture.site, at, "a", author).await;
        let newer = fixture
            .item_by(other_site, at + TimeDelta::days(1), "b", author)
            .await;
        own.push([newer, older]);
    }
    fixture.item().await;
    for (author, expected) in odd.into_iter().zip(&own) {
        assert_eq!(
            fixture.sought(&by_author(author)).await,
            expected,
            "{author:?}"
        );
    }
    let ada = by_author("ada");
    let [newer, older] = own[9];
    fixture
        .judge_by(older, Status::Rejected, &[matched(1)])
        .await;
    fixture
        .judge_by(newer, Status::PendingReview, &[matched(1), matched(2)])
        .await;
    for (filter, expected) in [
        (
            Filter {
                site: Some(fixture.site),
                ..ada.clone()
            },
            vec![older],
        ),
        (
            Filter {
                status: Some(Status::PendingReview),
                ..ada.clone()
            },
            vec![newer],
        ),
        (
            Filter {
                status: Some(Status::Pending),
                ..ada.clone()
            },
            vec![],
        ),
        (
            Filter {
                app_media_id: Some("a".into()),
                ..ada.clone()
            },
            vec![older],
        ),
        (
            Filter {
                app_media_id: Some("c".into()),
                ..ada.clone()
            },
            vec![],
        ),
        (
            Filter {
                since: Some(start() + TimeDelta::hours(1)),
                ..ada.clone()
            },
            vec![newer],
        ),
        (
            Filter {
                rule: Some(rule(1)),
                ..ada.clone()
            },
            vec![newer, older],
        ),
        (
            Filter {
                rule: Some(rule(2)),
                ..ada.clone()
            },
            vec![newer],
        ),
        (
            Filter {
                rule: Some(rule(1)),
                status: Some(Status::Rejected),
                app_media_id: Some("a".into()),
                ..ada.clone()
            },
            vec![older],
        ),
        (by_author("nobody"), vec![]),
    ] {
        assert_eq!(fixture.sought(&filter).await, expected, "{filter:?}");
    }
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

#[sqlx::test(migrations = false)]
async fn a_page_of_a_rule_or_an_author_reads_a_bounded_part_of_the_tables(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let walked = i32::try_from(WALKED).unwrap();
    fill(&fixture, fixture.site, 0..4 * walked).await;
    let trace = json!({ "evidence": [matched(1)] });
    sqlx::query(
        "insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace)
         select id, 1, status, 'pending', 'rule', '{}', $1 from media",
    )
    .bind(&trace)
    .execute(&fixture.pool)
    .await
    .unwrap();
    fixture
        .execute(
            "update media set author = 'everybody'; update media set author = 'ada'
             where id = '01980000-0000-7000-8000-000000000000'; analyze media; analyze verdicts",
        )
        .await;

    // The verdict of every row is looked at, and no row matches: the most that a page can cost.
    let all = Filter::default();
    let none = Filter {
        rule: Some(rule(2)),
        ..all.clone()
    };
    let [media, verdicts] = fixture.rows_read(&none, 0).await;
    assert!(
        (walked.into()..2 * i64::from(walked)).contains(&media),
        "{media}"
    );
    assert!(
        (walked.into()..2 * i64::from(walked)).contains(&verdicts),
        "{verdicts}"
    );
    // Other pages end as soon as they are full, and go on from there.
    let every = Filter {
        rule: Some(rule(1)),
        ..all.clone()
    };
    let pages = fixture.pages(Reach::Team(fixture.team), &none, 10).await;
    assert_eq!(pages, vec![Vec::new(); 5]);
    let first = fixture
        .page(Reach::Team(fixture.team), &every, None, 10)
        .await;
    assert_eq!(first.media.len(), 10);

    // The only item of an author is the oldest one, and is found at once.
    let [media, _] = fixture.rows_read(&by_author("ada"), 1).await;
    assert!(media < 10, "{media}");
    // An author with any number of items costs no more than a page.
    let [media, _] = fixture.rows_read(&by_author("everybody"), 10).await;
    assert!(media < 100, "{media}");
    let rejected = Filter {
        status: Some(Status::Pending),
        ..by_author("everybody")
    };
    let [media, _] = fixture.rows_read(&rejected, 0).await;
    assert!(media < 2 * i64::from(walked), "{media}");
}

/// Rows of media and of verdicts that this connection has read recently.
async fn read(conn: &mut PgConnection) -> [i64; 2] {
    let read: Vec<i64> = sqlx::query_scalar(
        "select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables
         where relname in ('media', 'verdicts') order by relname",
    )
    .fetch_all(conn)
    .await
    .unwrap();
    read.try_into().unwrap()
}

impl Tenant {
    /// Rows of media and of verdicts that a page of 10 reads; it has so many items.
    async fn rows_read(&self, filter: &Filter, found: usize) -> [i64; 2] {
        let mut tx = self.pool.begin().await.unwrap();
        let before = read(&mut tx).await;
        let page = list(&mut tx, Reach::Team(self.team), filter, None, 10)
            .await
            .unwrap();
        assert_eq!(page.media.len(), found, "{filter:?}");
        let after = read(&mut tx).await;
        [after[0] - before[0], after[1] - before[1]]
    }
}
