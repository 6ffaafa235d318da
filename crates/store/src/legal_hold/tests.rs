//! Which items are held, and that a hold waits for those who remove items.

use std::time::Duration;

use sqlx::PgPool;

use super::*;
use crate::schema;

/// A site, with the team of the same id.
async fn site(pool: &PgPool) -> Uuid {
    let site = Uuid::now_v7();
    sqlx::query(
        "with team as (insert into teams (id, name) values ($1, '') returning id),
         version as (
             insert into rule_group_versions (id, rule_group_id, number, rules, uses_ai) values ($1, $1, 1, '[]', false)
         ),
         \"group\" as (
             insert into rule_groups (id, team_id, name, live_version_id) select id, id, '', id from team
         )
         insert into sites (id, team_id, name, default_rule_group_id, webhook_secret) select id, id, '', id, '' from team",
    )
    .bind(site)
    .execute(pool)
    .await
    .unwrap();
    site
}

async fn item(pool: &PgPool, site: Uuid, author: Option<&str>) -> Uuid {
    let item = Uuid::now_v7();
    sqlx::query(
        "insert into media (id, team_id, site_id, content_type, body, author, group_versions)
         values ($1, $2, $2, 'text', '', $3, '{}')",
    )
    .bind(item)
    .bind(site)
    .bind(author)
    .execute(pool)
    .await
    .unwrap();
    item
}

async fn hold(pool: &PgPool, site: Uuid, what: &What) -> HoldId {
    let reason = Reason::try_from("A case.".to_owned()).unwrap();
    let mut tx = pool.begin().await.unwrap();
    let of = (site.into(), site.into());
    let hold = create(&mut tx, of, what, &reason, Actor::CommandLine)
        .await
        .unwrap();
    tx.commit().await.unwrap();
    hold
}

#[sqlx::test(migrations = false)]
async fn a_hold_is_of_a_site_an_item_or_an_author_of_the_site(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let (ours, theirs) = (site(&pool).await, site(&pool).await);
    let items = [
        item(&pool, ours, None).await,
        item(&pool, ours, Some("ada")).await,
        item(&pool, ours, Some("Ada")).await,
        item(&pool, theirs, Some("ada")).await,
        Uuid::now_v7(),
    ];
    let mut conn = pool.acquire().await.unwrap();
    let ada = Author::try_from("ada".to_owned()).unwrap();
    for (what, expected) in [
        (What::Site, &items[..3]),
        (What::Media(items[0].into()), &items[..1]),
        (What::Author(ada), &items[1..2]),
    ] {
        let hold = hold(&pool, ours, &what).await;
        let mut found = held(&mut conn, &items).await.unwrap();
        found.sort_unstable();
        assert_eq!(found, expected, "{what:?}");
        assert!(lift(&mut conn, hold).await.unwrap());
        assert!(!lift(&mut conn, hold).await.unwrap());
        assert!(held(&mut conn, &items).await.unwrap().is_empty());
    }
}

#[sqlx::test(migrations = false)]
async fn a_hold_is_created_when_those_who_have_asked_before_are_done(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = site(&pool).await;
    let item = item(&pool, site, None).await;
    let mut removing = pool.begin().await.unwrap();
    assert!(held(&mut removing, &[item]).await.unwrap().is_empty());
    let other = pool.clone();
    let creating = tokio::spawn(async move { hold(&other, site, &What::Site).await });
    // It waits for the lock.
    let waiting = "select exists (select from pg_stat_activity
                    where datname = current_database() and wait_event_type = 'Lock')";
    while !creating.is_finished()
        && !sqlx::query_scalar::<_, bool>(waiting)
            .fetch_one(&pool)
            .await
            .unwrap()
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!creating.is_finished());
    removing.commit().await.unwrap();
    creating.await.unwrap();
    let mut conn = pool.acquire().await.unwrap();
    assert_eq!(held(&mut conn, &[item]).await.unwrap(), [item]);
}
