//! Which items an erasure is about.

use super::*;

#[sqlx::test(migrations = false)]
async fn items_are_chosen_in_each_way(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let second = team.create_site("second").await;
    for (asked, site, expected) in [
        (json!({ "author": "anna" }), Some(second), vec![1]),
        (
            json!({ "app_media_ids": ["anna", "carl"] }),
            None,
            vec![0, 1, 3],
        ),
        (
            json!({ "metadata": { "pointer": "/user/id", "value": "bert" } }),
            None,
            vec![2],
        ),
        (
            json!({ "metadata": { "pointer": "/user", "value": "bert" } }),
            None,
            vec![],
        ),
        (json!({ "everything": {} }), Some(team.site), vec![0, 2, 3]),
        (json!({ "everything": {} }), None, vec![0, 1, 2, 3]),
    ] {
        sqlx::raw_sql("delete from media; delete from verdicts")
            .execute(&pool)
            .await
            .unwrap();
        let mut items = Vec::new();
        for (site, mark) in [
            (team.site, "anna"),
            (second, "anna"),
            (team.site, "bert"),
            (team.site, "carl"),
        ] {
            items.push(team.full_item(site, mark, Some(Status::Approved)).await);
        }
        let id = team.erase(site, &subject(asked.clone())).await;
        let ended = team.run_erasure(id).await;
        let erased: Vec<uuid::Uuid> =
            sqlx::query_scalar("select id from media where erased_at is not null order by id")
                .fetch_all(&pool)
                .await
                .unwrap();
        let mut expected: Vec<_> = expected
            .into_iter()
            .map(|n: usize| items[n].as_uuid())
            .collect();
        expected.sort_unstable();
        assert_eq!(erased, expected, "{asked}");
        assert_eq!(ended.counts.items, i64::try_from(erased.len()).unwrap());

        // Asked for by their ids, those that are left are the only ones.
        let id = team.erase(None, &Subject::MediaIds(items.clone())).await;
        let ended = team.run_erasure(id).await;
        assert_eq!(ended.counts.items, 4 - i64::try_from(erased.len()).unwrap());
    }
}

#[sqlx::test(migrations = false)]
async fn items_under_a_legal_hold_are_left_and_counted(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let mut items = Vec::new();
    for _ in 0..3 {
        items.push(
            team.full_item(team.site, "anna", Some(Status::Approved))
                .await,
        );
    }
    let hold = "insert into legal_holds (id, team_id, site_id, media_id, author, reason, lifted_at) values (gen_random_uuid(), $1, $2, $3, $4, 'r', $5)";
    for (media, author, lifted) in [
        (Some(items[1].as_uuid()), None, None),
        (None, Some("anna"), Some(Utc::now())),
    ] {
        sqlx::query(hold)
            .bind(team.team.as_uuid())
            .bind(team.site.as_uuid())
            .bind(media)
            .bind(author)
            .bind(lifted)
            .execute(&pool)
            .await
            .unwrap();
    }
    let before = team.rows_of(items[1]).await;
    let id = team
        .erase(None, &subject(json!({ "author": "anna" })))
        .await;
    let ended = team.run_erasure(id).await;
    assert_eq!((ended.counts.items, ended.counts.held), (2, 1));
    assert_eq!(team.rows_of(items[1]).await, before);
    let named = "select count(*) from legal_holds where author = 'anna'";
    assert_eq!(team.count(named).await, 0);
}

#[sqlx::test(migrations = false)]
async fn another_teams_items_cannot_be_named(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let other = Tenant::another(&pool, "other").await;
    let foreign = other
        .full_item(other.site, "anna", Some(Status::Approved))
        .await;
    let before = team.rows_of(foreign).await;
    for asked in [
        Subject::MediaIds(vec![foreign]),
        subject(json!({ "app_media_ids": ["anna"] })),
        subject(json!({ "author": "anna" })),
        subject(json!({ "everything": {} })),
    ] {
        for site in [None, Some(other.site)] {
            let id = team.erase(site, &asked).await;
            assert_eq!(team.run_erasure(id).await.counts.items, 0);
        }
    }
    assert_eq!(team.rows_of(foreign).await, before);
}
