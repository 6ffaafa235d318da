//! Pages together hold everything once, in order.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use domain::{id::MediaId, media::Status, reach::Reach};
use sqlx::PgPool;
use store::media::Filter;

use super::filter;
use crate::tenant::Tenant;

#[sqlx::test(migrations = false)]
async fn pages_of_all_sites_together_hold_everything_once_and_newest_first(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
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
        // The items are uneven on purpose: the sites alternate in runs of different lengths.
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
    let fixture = Tenant::new(pool).await;
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
