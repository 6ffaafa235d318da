//! Entries are found by their hashes, at a bounded cost.

use domain::image_hash::{HashAlgorithm, Pdq};
use sqlx::PgPool;
use store::{hash_list::search, page::Page};

use super::ALL;
use crate::hash_lists::fixture::{Listed, pdq, sha256};

#[sqlx::test(migrations = false)]
async fn entries_are_found_by_how_their_hashes_begin_and_by_what_is_near(pool: PgPool) {
    let team = Listed::new(pool).await;
    for number in [0xabcd_0000, 0xabcd_0001, 0xabce_0000, 0x0000_ffff] {
        team.add(pdq(number)).await;
    }
    team.add(sha256(7)).await;
    let mut conn = team.pool.acquire().await.unwrap();
    let (mut from, mut to) = ([0; 32], [0xff; 32]);
    from[..2].copy_from_slice(&[0xab, 0xcd]);
    to[..2].copy_from_slice(&[0xab, 0xcd]);
    let by_pdq = HashAlgorithm::Pdq;
    let found = search::with_hash(&mut conn, team.list, by_pdq, (from, to), 10).await;
    let found: Vec<_> = found.unwrap().iter().map(|entry| entry.hashes).collect();
    assert_eq!(found, [pdq(0xabcd_0000), pdq(0xabcd_0001)]);
    let file = *sha256(7).sha256().unwrap().as_bytes();
    let by_file = HashAlgorithm::Sha256;
    let found = search::with_hash(&mut conn, team.list, by_file, (file, file), 10).await;
    assert_eq!(found.unwrap()[0].hashes, sha256(7));

    // 0xabce differs from 0xabcd in two bits.
    let near: Pdq = pdq(0xabcd_0000).pdq().unwrap();
    let found = search::near(&mut conn, team.list, near, 2, ALL)
        .await
        .unwrap();
    let distances: Vec<_> = found
        .entries
        .iter()
        .map(|(_, distance)| *distance)
        .collect();
    assert_eq!(distances, [0, 1, 2]);
    assert_eq!(found.next, None);
    let one = Page { limit: 1, ..ALL };
    let first = search::near(&mut conn, team.list, near, 2, one)
        .await
        .unwrap();
    let next = first.next.unwrap();
    assert_eq!(next, first.entries[0].0.id);
    let rest = Page {
        after: Some(next.as_uuid()),
        ..ALL
    };
    let rest = search::near(&mut conn, team.list, near, 2, rest)
        .await
        .unwrap();
    assert_eq!(rest.entries.len(), 2);
    let none = search::near(&mut conn, team.create(None, "empty").await, near, 31, ALL).await;
    assert!(none.unwrap().next.is_none());
}

#[sqlx::test(migrations = false)]
async fn what_is_compared_for_one_answer_is_bounded(pool: PgPool) {
    let team = Listed::new(pool).await;
    sqlx::query(
        "insert into hash_entries (list_id, id, pdq, note, revision)
         select $1, lpad(to_hex(n), 32, '0')::uuid, decode(repeat('f', 58) || lpad(to_hex(n), 6, '0'), 'hex'), '', 1
         from generate_series(1, 20010) n",
    )
    .bind(team.list.as_uuid())
    .execute(&team.pool)
    .await
    .unwrap();
    let mut conn = team.pool.acquire().await.unwrap();
    let near: Pdq = pdq(0).pdq().unwrap();
    let first = search::near(&mut conn, team.list, near, 31, ALL)
        .await
        .unwrap();
    assert!(first.entries.is_empty());
    let next = first.next.unwrap();
    assert_eq!(next.as_uuid().as_u128(), 20_000);
    let rest = Page {
        after: Some(next.as_uuid()),
        ..ALL
    };
    let rest = search::near(&mut conn, team.list, near, 31, rest)
        .await
        .unwrap();
    assert!(rest.entries.is_empty() && rest.next.is_none());
}
