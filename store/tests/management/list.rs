//! Lists of media: complete, in order, within their bounds, and nobody else's.

use std::{collections::BTreeSet, ops::Range};

use chrono::{DateTime, TimeDelta, Utc};
use domain::{
    id::{MediaId, SiteId},
    media::Status,
    reach::Reach,
};
use sqlx::PgPool;
use store::media::{Filter, Page, WALKED, list};

use crate::fixture::Fixture;

impl Fixture {
    async fn page(
        &self,
        reach: Reach,
        filter: &Filter,
        after: Option<MediaId>,
        limit: usize,
    ) -> Page {
        let mut conn = self.pool.acquire().await.unwrap();
        list(&mut conn, reach, filter, after, limit).await.unwrap()
    }

    /// All pages of a list, one after the other.
    async fn pages(&self, reach: Reach, filter: &Filter, limit: usize) -> Vec<Vec<MediaId>> {
        let mut pages = Vec::new();
        let mut after = None;
        loop {
            let page = self.page(reach, filter, after, limit).await;
            assert!(page.media.len() <= limit);
            pages.push(page.media.iter().map(|listed| listed.media).collect());
            match page.next {
                Some(next) => after = Some(next),
                None => return pages,
            }
        }
    }
}

fn filter(status: Option<Status>) -> Filter {
    Filter {
        status,
        ..Filter::default()
    }
}

/// Items of a site with these consecutive ids, approved but for the oldest one, which is rejected.
async fn fill(fixture: &Fixture, site: SiteId, ids: Range<i32>) {
    sqlx::query(
        "insert into media (id, team_id, site_id, content_type, group_versions, status, verdict)
         select ('01980000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2, 'text', '{}',
                case when n = $3 then 'rejected' else 'approved' end, 1
         from generate_series($3, $4 - 1) as n",
    )
    .bind(fixture.team.as_uuid())
    .bind(site.as_uuid())
    .bind(ids.start)
    .bind(ids.end)
    .execute(&fixture.pool)
    .await
    .unwrap();
}

#[sqlx::test(migrations = false)]
async fn pages_of_all_sites_together_hold_everything_once_and_newest_first(pool: PgPool) {
    let fixture = Fixture::new(pool).await;
    let sites = [
        fixture.site,
        fixture.create_site("second").await,
        fixture.create_site("third, without media").await,
    ];
    let start: DateTime<Utc> = "2026-01-01T00:00:00Z".parse().unwrap();
    let mut all = Vec::new();
    let mut reviews = BTreeSet::new();
    for n in 0..40_i32 {
        let at = start + TimeDelta::seconds(n.into());
        // Uneven on purpose: the sites take turns in runs of different lengths.
        let site = sites[usize::from(n % 7 < 2)];
        let media = fixture.item_of(site, at, None).await;
        match n % 3 {
            0 => {
                fixture.judge(media, Status::PendingReview).await;
                reviews.insert(media);
            }
            1 => drop(fixture.judge(media, Status::Approved).await),
            _ => {}
        }
        all.push((at, site, media));
    }
    all.reverse();

    for limit in [1, 3, 39, 40, 41] {
        for status in [None, Some(Status::PendingReview), Some(Status::Pending)] {
            let pages = fixture
                .pages(Reach::Team(fixture.team), &filter(status), limit)
                .await;
            let expected: Vec<MediaId> = (0_i32..)
                .zip(&all)
                .filter(|(n, _)| match status {
                    None => true,
                    Some(Status::PendingReview) => (39 - n) % 3 == 0,
                    Some(_) => (39 - n) % 3 == 2,
                })
                .map(|(_, (_, _, media))| *media)
                .collect();
            assert_eq!(pages.concat(), expected, "{limit} {status:?}");
        }
    }
    let one_site = Filter {
        site: Some(sites[1]),
        ..Filter::default()
    };
    let expected: Vec<MediaId> = all
        .iter()
        .filter(|(_, site, _)| *site == sites[1])
        .map(|(_, _, media)| *media)
        .collect();
    assert_eq!(
        fixture
            .pages(Reach::Everything, &one_site, 4)
            .await
            .concat(),
        expected
    );

    let (from, before) = (
        start + TimeDelta::seconds(10),
        start + TimeDelta::seconds(20),
    );
    let range = Filter {
        since: Some(from),
        until: Some(before),
        ..Filter::default()
    };
    let expected: Vec<MediaId> = all
        .iter()
        .filter(|(at, _, _)| (from..before).contains(at))
        .map(|(_, _, media)| *media)
        .collect();
    assert_eq!(expected.len(), 10);
    let pages = fixture.pages(Reach::Team(fixture.team), &range, 4).await;
    assert_eq!(pages.concat(), expected);
    let waiting = Filter {
        status: Some(Status::PendingReview),
        ..range
    };
    let expected: Vec<MediaId> = expected
        .into_iter()
        .filter(|media| reviews.contains(media))
        .collect();
    let pages = fixture.pages(Reach::Team(fixture.team), &waiting, 2).await;
    assert_eq!(pages.concat(), expected);
}

#[sqlx::test(migrations = false)]
async fn a_list_by_time_goes_by_postgress_clock_although_ids_are_made_by_another(pool: PgPool) {
    let fixture = Fixture::new(pool).await;
    let start: DateTime<Utc> = "2026-01-01T00:00:00Z".parse().unwrap();
    let minutes = TimeDelta::minutes(4);
    let mut made = Vec::new();
    for id_at in [start - minutes, start + minutes] {
        let media = fixture.item_of(fixture.site, id_at, None).await;
        sqlx::query("update media set created_at = $2 where id = $1")
            .bind(media.as_uuid())
            .bind(start)
            .execute(&fixture.pool)
            .await
            .unwrap();
        made.insert(0, media);
    }
    let now = Filter {
        since: Some(start),
        until: Some(start + TimeDelta::microseconds(1)),
        ..Filter::default()
    };
    let pages = fixture.pages(Reach::Team(fixture.team), &now, 10).await;
    assert_eq!(pages.concat(), made);
}

#[sqlx::test(migrations = false)]
async fn a_page_looks_at_a_bounded_number_of_rows_and_the_next_one_goes_on_from_there(
    pool: PgPool,
) {
    let fixture = Fixture::new(pool).await;
    let walked = i32::try_from(WALKED).unwrap();
    fill(&fixture, fixture.site, 0..2 * walked + 10).await;

    let pages = fixture
        .pages(
            Reach::Team(fixture.team),
            &filter(Some(Status::Rejected)),
            10,
        )
        .await;
    let found: Vec<usize> = pages.iter().map(Vec::len).collect();
    assert_eq!(found, [0, 0, 1], "the only one is the oldest");
    let first = fixture
        .page(Reach::Team(fixture.team), &filter(None), None, 10)
        .await;
    assert_eq!(first.media.len(), 10);
}

#[sqlx::test(migrations = false)]
async fn sites_of_which_some_are_walked_further_than_others_are_still_listed_in_order(
    pool: PgPool,
) {
    let fixture = Fixture::new(pool).await;
    let newer = fixture.create_site("newer").await;
    let walked = i32::try_from(WALKED).unwrap();
    // The first page sees all of the older site, and only a part of the newer one.
    fill(&fixture, fixture.site, 0..10).await;
    fill(&fixture, newer, 10..walked).await;
    let rejected = fixture
        .pages(
            Reach::Team(fixture.team),
            &filter(Some(Status::Rejected)),
            10,
        )
        .await
        .concat();
    assert_eq!(rejected.len(), 2);
    assert!(rejected[0] > rejected[1], "{rejected:?}");
}

#[sqlx::test(migrations = false)]
async fn an_applications_own_identifier_finds_all_items_of_that_name(pool: PgPool) {
    let fixture = Fixture::new(pool).await;
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
    let fixture = Fixture::new(pool).await;
    let other = Fixture::another(&fixture.pool, "other").await;
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
