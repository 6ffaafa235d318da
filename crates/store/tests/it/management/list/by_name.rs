//! What a list finds by name, and for whom.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{media::Status, reach::Reach};
use sqlx::PgPool;
use store::media::Filter;

use super::filter;
use crate::tenant::Tenant;

#[sqlx::test(migrations = false)]
async fn an_applications_own_identifier_finds_all_items_of_that_name(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let other_site = fixture.create_site("second").await;
    let start: DateTime<Utc> = "2026-01-01T00:00:00Z".parse().unwrap();
    let mut expected = Vec::new();
    for n in 0..6_i32 {
        let at = start + TimeDelta::seconds(n.into());
        let site = if n % 2 == 0 { fixture.site } else { other_site };
        expected.push(fixture.item_of(site, at, Some("comment-7")).await);
        fixture.item_of(site, at, Some("comment-8")).await;
        fixture.item_of(site, at, None).await;
    }
    expected.reverse();
    let named = Filter {
        app_media_id: Some("comment-7".into()),
        ..Filter::default()
    };
    for limit in [1, 4, 6] {
        let pages = fixture
            .pages(Reach::Team(fixture.team), &named, limit)
            .await;
        assert_eq!(pages.concat(), expected, "{limit}");
    }
    fixture.judge(expected[2], Status::Rejected).await;
    let rejected = Filter {
        status: Some(Status::Rejected),
        ..named
    };
    let pages = fixture.pages(Reach::Team(fixture.team), &rejected, 4).await;
    assert_eq!(pages.concat(), [expected[2]]);
}

#[sqlx::test(migrations = false)]
async fn another_teams_media_are_in_no_list_but_an_operators(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let other = Tenant::another(&fixture.pool, "other").await;
    let theirs = other.item_of(other.site, Utc::now(), Some("a")).await;
    other.judge(theirs, Status::PendingReview).await;
    let ours = fixture.item().await;

    for filter in [
        Filter {
            site: Some(other.site),
            ..Filter::default()
        },
        filter(Some(Status::PendingReview)),
        Filter {
            app_media_id: Some("a".into()),
            ..Filter::default()
        },
    ] {
        let none = fixture.pages(Reach::Team(fixture.team), &filter, 10).await;
        assert_eq!(none, [Vec::new()], "{filter:?}");
        let all = fixture.pages(Reach::Everything, &filter, 10).await;
        assert_eq!(all, [[theirs]], "{filter:?}");
    }
    let own = fixture
        .pages(Reach::Team(fixture.team), &filter(None), 10)
        .await;
    assert_eq!(own, [[ours]]);
    let everybodys = fixture.pages(Reach::Everything, &filter(None), 10).await;
    assert_eq!(everybodys, [[ours, theirs]]);
}
