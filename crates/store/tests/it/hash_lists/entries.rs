//! The entries of a list, and which lists there are.

mod lists;
mod search;

use domain::{hash_list::EntryHashes, reach::Reach};
use sqlx::PgPool;
use store::{
    hash_list::{
        self,
        entry::{self, Addition},
    },
    page::Page,
};

use super::fixture::{Listed, pdq, sha256};

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
