//! What a list finds by author.

use super::*;

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
}

#[sqlx::test(migrations = false)]
async fn an_author_goes_with_every_other_filter(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let other_site = fixture.create_site("second").await;
    let older = fixture.item_by(fixture.site, start(), "a", "ada").await;
    let newer = start() + TimeDelta::days(1);
    let newer = fixture.item_by(other_site, newer, "b", "ada").await;
    let ada = by_author("ada");
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
