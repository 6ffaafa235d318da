//! A page looks at a bounded number of rows.

use domain::{media::Status, reach::Reach};
use sqlx::PgPool;
use store::media::WALKED;

use super::{fill, filter};
use crate::tenant::Tenant;

#[sqlx::test(migrations = false)]
async fn a_page_looks_at_a_bounded_number_of_rows_and_the_next_one_goes_on_from_there(
    pool: PgPool,
) {
    let fixture = Tenant::new(pool).await;
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
    let fixture = Tenant::new(pool).await;
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
