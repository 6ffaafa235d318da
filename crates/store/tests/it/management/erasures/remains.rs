//! What is left of erased items and of others, and what the certificate says.

use super::*;

#[sqlx::test(migrations = false)]
async fn nothing_is_left_of_an_author_but_tombstones_and_everything_of_others(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let other_team = Tenant::another(&pool, "other").await;
    let second = team.create_site("second").await;
    let mut meant = Vec::new();
    for status in [
        Some(Status::Approved),
        Some(Status::PendingReview),
        Some(Status::Rejected),
        None,
    ] {
        meant.push(team.full_item(team.site, "anna", status).await);
    }
    sqlx::query(r#"insert into bulk_decisions (id, team_id, ruling, reason, filter, review_ids, total, created_by) values ($1, $1, 'reject', 'r', '{"author":"anna"}', '{}', 0, $1)"#)
        .bind(team.team.as_uuid())
        .execute(&pool)
        .await
        .unwrap();
    let bert = team
        .full_item(team.site, "bert", Some(Status::Approved))
        .await;
    let bert_pending = team.full_item(second, "bert", None).await;
    let foreign = other_team
        .full_item(other_team.site, "carl", Some(Status::Approved))
        .await;
    sqlx::query("update media set author = 'anna' where id = $1")
        .bind(foreign.as_uuid())
        .execute(&pool)
        .await
        .unwrap();
    let before = [
        team.rows_of(bert).await,
        team.rows_of(bert_pending).await,
        team.rows_of(foreign).await,
    ];
    // A new table that belongs to items must be erased, too, or have nothing of their content.
    let having_items: Vec<String> = sqlx::query_scalar(
        "select table_name::text from information_schema.columns
         where table_schema = 'public' and column_name = 'media_id' order by table_name",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let rows = team.rows_of(meant[0]).await;
    let filled: Vec<&str> = tables(&rows)
        .into_iter()
        .filter(|table| *table != "media")
        .collect();
    let others: Vec<&str> = having_items
        .iter()
        .map(String::as_str)
        .filter(|table| !filled.contains(table))
        .collect();
    assert_eq!(
        others,
        [
            "backtest_changes",
            // Goes with the item's text, by a trigger.
            "cached_answers",
            "content_stragglers",
            "erased_items",
            // What is on a list stays.
            "hash_entries",
            "hash_scan_matches",
            // Holds keep the item.
            "legal_holds",
            "retention_stragglers",
            "reviews",
            "shadow_differences",
        ]
    );

    let asked = subject(json!({ "author": "anna" }));
    let id = team.erase(None, &asked).await;
    let ended = team.run_erasure(id).await;
    assert_eq!(
        team.columns_with("anna").await,
        ["public.media.author"],
        "the other team's"
    );
    sqlx::query("update media set author = 'carl' where id = $1")
        .bind(foreign.as_uuid())
        .execute(&pool)
        .await
        .unwrap();
    assert_eq!(team.columns_with("anna").await, <[String; 0]>::default());
    sqlx::query("update media set author = 'anna' where id = $1")
        .bind(foreign.as_uuid())
        .execute(&pool)
        .await
        .unwrap();
    for decided in &meant[..3] {
        let left = team.rows_of(*decided).await;
        assert_eq!(tables(&left), ["media", "review_opinions", "verdicts"]);
    }
    assert_eq!(tables(&team.rows_of(meant[3]).await), ["review_opinions"]);
    let statuses: Vec<(String, bool)> = sqlx::query_as(
        "select status, erased_at is not null from media where id = any($1) order by id",
    )
    .bind(meant.iter().map(|id| id.as_uuid()).collect::<Vec<_>>())
    .fetch_all(&pool)
    .await
    .unwrap();
    assert_eq!(
        statuses,
        ["approved", "pending_review", "rejected"].map(|status| (status.to_owned(), true))
    );
    let after = [
        team.rows_of(bert).await,
        team.rows_of(bert_pending).await,
        team.rows_of(foreign).await,
    ];
    assert_eq!(before, after);
    assert_eq!(team.count("select count(*) from reviews").await, 0);
    assert_eq!(team.count("select count(*) from deliveries").await, 3);
    assert_eq!(
        team.count("select count(*) from delivery_attempts").await,
        3
    );
    assert_eq!(team.count("select count(*) from queue.dead_jobs").await, 3);
    assert_eq!(team.count("select count(*) from erased_items").await, 0);

    let mut conn = pool.acquire().await.unwrap();
    let key = erasure::public_key(&mut conn).await.unwrap().unwrap();
    let certificate = certificate::verify(&ended.certificate.unwrap(), &key.bytes).unwrap();
    assert_eq!(certificate.counts, ended.counts);
    assert_eq!(
        (
            ended.counts.items,
            ended.counts.without_verdict,
            ended.counts.notes,
            ended.counts.events
        ),
        (4, 1, 4, 7)
    );
    assert_eq!(
        (ended.counts.idempotency_keys, ended.counts.dead_jobs),
        (4, 4)
    );
    let digest = meant
        .iter()
        .fold(ItemsDigest::default(), |digest, id| digest.with(*id));
    assert_eq!(certificate.items_digest, hex::encode(digest.as_bytes()));
    let salt = hex::decode(&certificate.subject.salt).unwrap();
    assert_eq!(certificate.subject.sha256, hex::encode(asked.digest(&salt)));

    // The key survives a new master key.
    let new = MasterKey::new([8; 32]).replacing([7; 32]);
    while key_rotation::reseal(&mut conn, &new, 100).await.unwrap() > 0 {}
    assert_eq!(key_rotation::left(&mut conn, &new).await.unwrap(), 0);
    assert_eq!(erasure::public_key(&mut conn).await.unwrap(), Some(key));
}
