//! What one sweep does, and where the next one goes on.

use super::*;
use crate::schema;

/// Few of everything.
const FEW: Bounds = Bounds {
    walked: 4,
    again: 2,
    told: 100,
    pace: Pace::Hurried,
};

#[sqlx::test(migrations = false)]
async fn a_sweep_looks_at_a_bounded_number_of_items_and_the_next_one_goes_on(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    for kind in [Kind::Items, Kind::Contents] {
        let (of_items, of_contents) = match kind {
            Kind::Items => (Some(3), None),
            Kind::Contents => (None, Some(3)),
        };
        let site = Fixture::keeping(&pool, of_items, of_contents).await;
        let mut waiting = Vec::new();
        for days in (20..26).rev() {
            waiting.push(site.item("pending_review", days, 9).await);
        }
        site.item("approved", 19, 9).await;
        site.item("approved", 18, 9).await;
        let sweep = || async { forget_within(&pool, kind, FEW).await.unwrap() };
        let swept = |removed, has_more| Forgotten { removed, has_more };
        assert_eq!(sweep().await, swept(0, true));
        assert_eq!(site.listed().await.len(), 4, "{kind:?}");
        // What has waited longest is looked at first.
        for item in [waiting[3], waiting[1], waiting[2]] {
            site.make_due(item).await;
        }
        assert_eq!(sweep().await, swept(2, true));
        let pauses: Vec<i64> = site.listed().await.iter().map(|row| row.1).collect();
        assert_eq!(pauses, [10, 20, 0, 20, 10, 10], "{kind:?}");
        assert_eq!(sweep().await, swept(0, false));
        let pauses: Vec<i64> = site.listed().await.iter().map(|row| row.1).collect();
        assert_eq!(pauses, [10, 20, 20, 20, 10, 10], "{kind:?}");
    }
}

#[sqlx::test(migrations = false)]
async fn what_had_to_stay_is_looked_at_again_after_longer_and_longer_pauses(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    for kind in [Kind::Items, Kind::Contents] {
        let (of_items, of_contents) = match kind {
            Kind::Items => (Some(3), None),
            Kind::Contents => (None, Some(3)),
        };
        let site = Fixture::keeping(&pool, of_items, of_contents).await;
        let waiting = site.item("pending_review", 9, 9).await;
        for minutes in [10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440] {
            assert_eq!(
                forget_old(&pool, kind, Pace::Hurried)
                    .await
                    .unwrap()
                    .removed,
                0
            );
            assert_eq!(site.listed().await, [(waiting, minutes)], "{kind:?}");
            // Not due.
            assert_eq!(
                forget_old(&pool, kind, Pace::Hurried)
                    .await
                    .unwrap()
                    .removed,
                0
            );
            assert_eq!(site.listed().await, [(waiting, minutes)], "{kind:?}");
            site.make_due(waiting).await;
        }
        site.execute(
            "update media set status = 'rejected' where id = $1 and site_id = $2",
            waiting,
        )
        .await;
        assert_eq!(
            forget_old(&pool, kind, Pace::Hurried)
                .await
                .unwrap()
                .removed,
            1
        );
        assert_eq!(site.listed().await, []);
    }
}

#[sqlx::test(migrations = false)]
async fn what_is_listed_goes_with_the_wish_to_forget_and_with_the_item(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::keeping(&pool, Some(3), Some(3)).await;
    let waiting = site.item("pending_review", 9, 9).await;
    let gone = site.item("pending_review", 9, 9).await;
    assert_eq!([items(&pool).await, contents(&pool).await], [0, 0]);
    assert_eq!(site.listed().await.len(), 4);
    site.execute("delete from media where id = $1 and site_id = $2", gone)
        .await;
    look_again_at_all(&pool).await.unwrap();
    assert_eq!([items(&pool).await, contents(&pool).await], [0, 0]);
    assert_eq!(site.listed().await, [(waiting, 20), (waiting, 20)]);
    site.execute(
        "update sites set content_retention_days = null where $1::uuid is not null and id = $2",
        waiting,
    )
    .await;
    assert_eq!([items(&pool).await, contents(&pool).await], [0, 0]);
    assert_eq!(site.listed().await, [(waiting, 20)]);

    // A site that changes its mind again is walked from the beginning.
    site.execute(
        "update sites set content_retention_days = 3 where $1::uuid is not null and id = $2",
        waiting,
    )
    .await;
    assert_eq!([items(&pool).await, contents(&pool).await], [0, 0]);
    assert_eq!(site.listed().await.len(), 2);
}

#[sqlx::test(migrations = false)]
async fn items_wait_until_the_events_of_their_time_were_looked_at(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::site(&pool, Some(3)).await;
    let first = site.item("approved", 20, 20).await;
    let told = site.item("approved", 19, 19).await;
    let last = site.item("approved", 18, 18).await;
    let event = |item| {
        let statement =
            "insert into events (id, media_id, site_id, kind) values ($1, $1, $2, 'media.created')";
        site.execute(statement, item)
    };
    event(told).await;
    // The sweep of events has stopped there.
    site.execute(
        "insert into retention_walks (site_id, kind, walked_to) values ($2, 'events', $1)",
        told,
    )
    .await;
    assert_eq!(items(&pool).await, 1);
    assert_eq!(site.items().await, [told, last]);
    assert_eq!(site.listed().await, []);
    site.execute(
        "delete from retention_walks where $1::uuid is not null and site_id = $2 and kind = 'events'",
        told,
    )
    .await;
    // More events are left than a sweep keeps in memory: what is later stays.
    let told_one = Bounds { told: 1, ..FEW };
    let swept = forget_within(&pool, Kind::Items, told_one).await.unwrap();
    assert_eq!(swept.removed, 0);
    assert_eq!(site.items().await, [told, last]);
    assert_eq!(site.listed().await, []);
    assert_eq!(items(&pool).await, 1);
    assert_eq!(site.items().await, [told]);
    assert!(!site.items().await.contains(&first));
}

#[sqlx::test(migrations = false)]
async fn many_items_go_slice_by_slice_although_several_processes_remove_them(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::site(&pool, Some(3)).await;
    let model = site.item("approved", 9, 9).await;
    let copies = SLICE.cast_signed() * 2 + 30;
    for statement in [
        "insert into media (id, team_id, site_id, status, content_type, body, group_versions, verdict)
         select overlay(m.id::text placing lpad(to_hex(n), 8, '0') from 29)::uuid, team_id, site_id, status, content_type, body,
             group_versions, verdict
         from media m, generate_series(1, $2) n
         where m.id = $1",
        "insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
         select m.id, 1, v.status, previous_status, moderation_type, details, trace, moderated_at
         from media m, verdicts v
         where v.media_id = $1 and m.id <> $1 and $2 > 0",
    ] {
        sqlx::query(statement)
            .bind(model)
            .bind(copies)
            .execute(&pool)
            .await
            .unwrap();
    }
    let (one, other) = tokio::join!(
        forget_old(&pool, Kind::Items, Pace::Hurried),
        forget_old(&pool, Kind::Items, Pace::Hurried)
    );
    let removed = one.unwrap().removed + other.unwrap().removed;
    assert_eq!(removed, copies.cast_unsigned() + 1);
    assert!(site.items().await.is_empty());
}

#[sqlx::test(migrations = false)]
async fn a_site_that_fails_does_not_keep_the_others_from_their_turn(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    for kind in [Kind::Items, Kind::Contents] {
        let sites = [
            Fixture::keeping(&pool, Some(3), Some(3)).await,
            Fixture::keeping(&pool, Some(3), Some(3)).await,
        ];
        // Whichever comes first.
        for (failing, other, days) in [(0, 1, 9), (1, 0, 8)] {
            for site in &sites {
                site.item("approved", days, 8).await;
            }
            let statement = format!(
                "create or replace function fail() returns trigger language plpgsql as $$
                 begin
                     if old.site_id = '{}' then raise exception 'This site fails.'; end if;
                     if tg_op = 'DELETE' then return old; end if;
                     return new;
                 end $$;
                 create or replace trigger fail before delete or update on media for each row execute function fail()",
                sites[failing].site
            );
            sqlx::raw_sql(sqlx::AssertSqlSafe(statement))
                .execute(&pool)
                .await
                .unwrap();
            let swept = forget_old(&pool, kind, Pace::Hurried).await;
            assert!(swept.is_err(), "{kind:?}");
            let left = "select count(*) from media where body is not null and site_id = $1";
            let left: i64 = sqlx::query_scalar(left)
                .bind(sites[other].site)
                .fetch_one(&pool)
                .await
                .unwrap();
            assert_eq!(left, 0, "{kind:?}");
        }
    }
}
