//! What stands on a list, and what lists are there.

use domain::{
    actor::Actor,
    hash_list::EntryHashes,
    image_hash::{HashAlgorithm, Pdq},
    reach::Reach,
};
use sqlx::PgPool;
use store::{
    Error,
    hash_list::{
        self, NewHashList,
        entry::{self, Addition},
        search,
    },
    page::Page,
};

use super::listed::{Listed, pdq, sha256};

const ALL: Page = Page {
    after: None,
    limit: 100,
};

#[sqlx::test(migrations = false)]
async fn a_hash_stands_on_a_list_once_until_it_is_taken_off(pool: PgPool) {
    let team = Listed::new(pool).await;
    let both = EntryHashes::new(sha256(1).sha256(), pdq(1).pdq()).unwrap();
    let mut added = Vec::new();
    for hashes in [pdq(1), sha256(1), both] {
        let Addition::Added(id) = team.add(hashes).await else {
            panic!("{hashes:?} stands there already");
        };
        assert_eq!(team.add(hashes).await, Addition::There(id));
        added.push(id);
    }
    let list = team.found().await;
    assert_eq!((list.entries, list.revision), (3, 3));

    let mut tx = team.pool.begin().await.unwrap();
    hash_list::lock(&mut tx, Reach::Everything, team.list)
        .await
        .unwrap();
    assert!(entry::remove(&mut tx, team.list, added[2]).await.unwrap());
    assert!(!entry::remove(&mut tx, team.list, added[2]).await.unwrap());
    tx.commit().await.unwrap();
    let mut conn = team.pool.acquire().await.unwrap();
    let stand = entry::list(&mut conn, team.list, ALL).await.unwrap();
    let stand: Vec<_> = stand.iter().map(|entry| entry.id).collect();
    assert_eq!(stand, added[..2]);
    assert_eq!(team.found().await.entries, 2);
    assert!(matches!(team.add(both).await, Addition::Added(id) if id != added[2]));
}

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
         from generate_series(1, 50010) n",
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
    assert_eq!(next.as_uuid().as_u128(), 50_000);
    let rest = Page {
        after: Some(next.as_uuid()),
        ..ALL
    };
    let rest = search::near(&mut conn, team.list, near, 31, rest)
        .await
        .unwrap();
    assert!(rest.entries.is_empty() && rest.next.is_none());
}

#[sqlx::test(migrations = false)]
async fn a_team_sees_its_own_lists_and_the_shared_ones(pool: PgPool) {
    let team = Listed::new(pool).await;
    let other = Listed::another(&team.pool, "other").await;
    let shared = team.create(None, "list").await;
    let mut conn = team.pool.acquire().await.unwrap();
    let reach = Reach::Team(team.team);
    let seen = hash_list::list(&mut conn, reach, ALL).await.unwrap();
    let seen: Vec<_> = seen.iter().map(|list| list.id).collect();
    assert_eq!(seen, [team.list, shared]);
    for (list, found) in [(team.list, true), (shared, true), (other.list, false)] {
        let one = hash_list::find(&mut conn, reach, list).await.unwrap();
        assert_eq!(one.is_some(), found);
        let usable = hash_list::usable(&mut conn, team.team, &[list].into()).await;
        assert_eq!(usable.unwrap().len(), usize::from(found));
    }
    // Names are unique among a team's, and among the shared ones.
    for of in [Some(team.team), None] {
        let new = NewHashList {
            team: of,
            name: "list",
            description: "",
            kind: domain::image_hash::ListKind::Allow,
            max_distance: 0,
            by: Actor::Token(team.token),
        };
        let taken = hash_list::create(&mut conn, new).await;
        assert!(matches!(taken, Err(Error::NameTaken)), "{taken:?}");
    }
    let new = NewHashList {
        team: Some(team.team),
        name: "one more",
        description: "",
        kind: domain::image_hash::ListKind::Deny,
        max_distance: 31,
        by: Actor::Token(team.token),
    };
    sqlx::query(
        "insert into hash_lists (id, team_id, name, description, kind, max_distance)
         select gen_random_uuid(), $1, 'list ' || n, '', 'deny', 31 from generate_series(2, 100) n",
    )
    .bind(team.team.as_uuid())
    .execute(&team.pool)
    .await
    .unwrap();
    let refused = hash_list::create(&mut conn, new).await;
    assert!(
        matches!(refused, Err(Error::LimitReached(_))),
        "{refused:?}"
    );
}

#[sqlx::test(migrations = false)]
async fn a_deleted_list_is_gone_at_once_and_its_name_is_free(pool: PgPool) {
    let team = Listed::new(pool).await;
    team.add(pdq(1)).await;
    let mut tx = team.pool.begin().await.unwrap();
    let reach = Reach::Team(team.team);
    let locked = hash_list::lock_to_delete(&mut tx, reach, team.list).await;
    let (list, groups) = locked.unwrap().unwrap();
    assert_eq!((list.id, groups), (team.list, Vec::new()));
    hash_list::delete(&mut tx, team.list).await.unwrap();
    tx.commit().await.unwrap();
    let mut conn = team.pool.acquire().await.unwrap();
    assert_eq!(
        hash_list::find(&mut conn, Reach::Everything, team.list)
            .await
            .unwrap(),
        None
    );
    team.create(reach.team(), "list").await;
}
