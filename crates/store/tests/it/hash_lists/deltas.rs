//! What changed since a revision, for workers that hold a list in memory.

use domain::{id::HashEntryId, reach::Reach};
use sqlx::PgPool;
use store::hash_list::{
    self,
    delta::{self, Changed, Place},
    entry::{self, Addition},
};

use super::fixture::{Listed, pdq};

impl Listed {
    async fn added(&self, number: u32) -> HashEntryId {
        match self.add(pdq(number)).await {
            Addition::Added(id) => id,
            other => panic!("{other:?}"),
        }
    }

    async fn remove(&self, entry: HashEntryId) {
        let mut tx = self.pool.begin().await.unwrap();
        hash_list::lock(&mut tx, Reach::Everything, self.list)
            .await
            .unwrap();
        assert!(entry::remove(&mut tx, self.list, entry).await.unwrap());
        tx.commit().await.unwrap();
    }

    async fn changes(&self, after: Place, until: i64, limit: i64) -> Vec<Changed> {
        let changes = delta::changes(&self.pool, self.list, after, until, limit);
        changes.await.unwrap()
    }
}

#[sqlx::test(migrations = false)]
async fn whoever_knows_a_revision_learns_what_is_newer_and_nothing_else(pool: PgPool) {
    let team = Listed::new(pool).await;
    let (one, two) = (team.added(1).await, team.added(2).await);
    let from_start = Place::after_revision(0);
    let all = team.changes(from_start, 2, 10).await;
    let all: Vec<_> = all.iter().map(|change| change.entry).collect();
    assert_eq!(all, [one, two]);

    team.remove(one).await;
    let three = team.added(3).await;
    let head = delta::head(&team.pool, team.list).await.unwrap().unwrap();
    assert_eq!(head.revision, 4);
    let newer = team
        .changes(Place::after_revision(2), head.revision, 10)
        .await;
    let gone = Changed {
        revision: 3,
        entry: one,
        hashes: pdq(1),
        stands: false,
    };
    let new = Changed {
        revision: 4,
        entry: three,
        hashes: pdq(3),
        stands: true,
    };
    assert_eq!(newer, [gone, new]);
    // Part by part, and not after the requested revision.
    let first = team.changes(from_start, 3, 1).await;
    let second = team.changes(Place::after(&first[0]), 3, 10).await;
    assert_eq!((first[0].entry, second), (two, vec![gone]));
}

#[sqlx::test(migrations = false)]
async fn what_was_taken_off_is_forgotten_in_the_end_and_the_list_says_so(pool: PgPool) {
    let team = Listed::new(pool).await;
    let (one, two) = (team.added(1).await, team.added(2).await);
    team.remove(one).await;
    team.remove(two).await;
    sqlx::query("update hash_entries set removed_at = now() - interval '8 days' where id = $1")
        .bind(one.as_uuid())
        .execute(&team.pool)
        .await
        .unwrap();
    assert_eq!(hash_list::forget_old(&team.pool).await.unwrap(), 1);
    let head = delta::head(&team.pool, team.list).await.unwrap().unwrap();
    assert_eq!((head.revision, head.swept_revision), (4, 3));
    assert_eq!(team.count("select count(*) from hash_entries").await, 1);

    let doomed = team.create(None, "doomed").await;
    sqlx::query(
        "insert into hash_entries (list_id, id, pdq, note, revision)
         select $1, gen_random_uuid(), decode(lpad(to_hex(n), 64, '0'), 'hex'), '', 1
         from generate_series(1, 12000) n",
    )
    .bind(doomed.as_uuid())
    .execute(&team.pool)
    .await
    .unwrap();
    let mut conn = team.pool.acquire().await.unwrap();
    hash_list::delete(&mut conn, doomed).await.unwrap();
    assert_eq!(hash_list::forget_old(&team.pool).await.unwrap(), 12_000);
    assert_eq!(team.count("select count(*) from hash_entries").await, 1);
}
