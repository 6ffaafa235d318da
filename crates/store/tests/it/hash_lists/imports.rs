//! Files of hashes: every line counts once, even when two workers read it.

use domain::{
    actor::Actor, chain::State, hash_list::parse_line, id::HashImportId, image_hash::HashAlgorithm,
    reach::Reach,
};
use sqlx::PgPool;
use store::{
    hash_list::{
        self,
        entry::Addition,
        import::{
            self, LISTED, MAX_RUNNING,
            slice::{self, Imported},
        },
    },
    page::Page,
};

use super::fixture::{Listed, pdq};

impl Listed {
    async fn import(&self, file: &str) -> Option<HashImportId> {
        let mut tx = self.pool.begin().await.unwrap();
        let list = hash_list::lock(&mut tx, Reach::Everything, self.list)
            .await
            .unwrap();
        let algorithm = HashAlgorithm::Pdq;
        let (list, file) = (&list.unwrap(), file.as_bytes());
        let created =
            import::create(&mut tx, list, algorithm, file, Actor::Token(self.token)).await;
        tx.commit().await.unwrap();
        let (id, jobs) = created.unwrap()?;
        assert_eq!(jobs.len(), 1);
        Some(id)
    }

    /// Reads the next chunk.
    async fn read(&self, import: HashImportId) -> Option<Imported> {
        let chunk = slice::next(&self.pool, import).await.unwrap()?;
        let mut imported = Imported::new(&chunk);
        let lines = chunk.bytes.split_inclusive(|byte| *byte == b'\n');
        for (number, line) in (chunk.first_line..).zip(lines) {
            imported.add(number, parse_line(line, chunk.algorithm));
        }
        Some(imported)
    }

    async fn import_found(&self, import: HashImportId) -> import::Import {
        let mut conn = self.pool.acquire().await.unwrap();
        let found = import::find(&mut conn, Reach::Team(self.team), import).await;
        found.unwrap().unwrap()
    }
}

/// One line for each number. Every tenth line is not a hash.
fn file(lines: std::ops::Range<u32>) -> String {
    let line = |number: u32| match number % 10 {
        9 => format!("{number}\n"),
        _ => format!("{},note {number}\n", pdq(number).pdq().unwrap()),
    };
    lines.map(line).collect()
}

#[sqlx::test(migrations = false)]
async fn a_file_is_read_to_its_end_and_every_line_counts_once(pool: PgPool) {
    let team = Listed::new(pool).await;
    team.add(pdq(1)).await;
    let lines = 20_000;
    let import = team.import(&(file(0..lines) + &file(0..10))).await.unwrap();
    let chunks = team.count("select count(*) from hash_import_chunks").await;
    assert!(chunks > 2, "{chunks}");

    // Two workers read it at the same time, as when a worker comes back too late.
    let (first, again) = (
        team.read(import).await.unwrap(),
        team.read(import).await.unwrap(),
    );
    assert_eq!(team.finish(&[first, again]).await.len(), 1);
    let mut read = 1;
    while let Some(chunk) = team.read(import).await {
        read += 1;
        let next = team.finish(&[chunk]).await.len();
        assert_eq!(next, usize::from(read < chunks));
    }
    assert_eq!(read, chunks);
    let found = team.import_found(import).await;
    assert_eq!(found.state, State::Finished);
    assert_eq!((found.lines, found.total_lines), (20_010, 20_010));
    assert_eq!(
        (found.added, found.existing, found.refused),
        (17_999, 10, 2_001)
    );
    assert_eq!(team.found().await.entries, 18_000);
    let stand = "select count(*) from hash_entries where removed_at is null";
    assert_eq!(team.count(stand).await, 18_000);
    assert_eq!(
        team.count("select count(*) from hash_import_chunks").await,
        0
    );

    let mut conn = team.pool.acquire().await.unwrap();
    let refused = import::refusals(&mut conn, import, 0, 2_000).await.unwrap();
    assert_eq!(i64::try_from(refused.len()).unwrap(), LISTED);
    let numbers: Vec<_> = refused.iter().map(|refused| refused.line).collect();
    assert_eq!(numbers, (1..=1_000).map(|n| n * 10).collect::<Vec<_>>());
    let after = import::refusals(&mut conn, import, 5_000, 1).await.unwrap();
    assert_eq!(after[0].line, 5_010);
}

#[sqlx::test(migrations = false)]
async fn a_cancelled_import_adds_nothing_any_more(pool: PgPool) {
    let team = Listed::new(pool).await;
    let import = team.import(&file(0..10_000)).await.unwrap();
    let first = team.read(import).await.unwrap();
    team.finish(&[first]).await;
    let added = team.import_found(import).await.added;
    let second = team.read(import).await.unwrap();
    let mut conn = team.pool.acquire().await.unwrap();
    assert!(import::cancel(&mut conn, import).await.unwrap());
    assert!(!import::cancel(&mut conn, import).await.unwrap());
    assert_eq!(team.finish(&[second]).await.len(), 0);
    let found = team.import_found(import).await;
    assert_eq!((found.state, found.added), (State::Cancelled, added));
    assert_eq!(team.found().await.entries, added);
    assert_eq!(
        team.count("select count(*) from hash_import_chunks").await,
        0
    );
    assert!(team.read(import).await.is_none());
}

#[sqlx::test(migrations = false)]
async fn a_list_that_is_deleted_meanwhile_takes_nothing_any_more(pool: PgPool) {
    let team = Listed::new(pool).await;
    let import = team.import(&file(0..10)).await.unwrap();
    let chunk = team.read(import).await.unwrap();
    let mut tx = team.pool.begin().await.unwrap();
    hash_list::lock_to_delete(&mut tx, Reach::Everything, team.list)
        .await
        .unwrap();
    hash_list::delete(&mut tx, team.list).await.unwrap();
    tx.commit().await.unwrap();
    team.finish(&[chunk]).await;
    assert_eq!(team.import_found(import).await.state, State::Cancelled);
    assert_eq!(team.count("select count(*) from hash_entries").await, 0);
}

#[sqlx::test(migrations = false)]
async fn files_and_entries_are_bounded_in_number(pool: PgPool) {
    let team = Listed::new(pool).await;
    sqlx::query("update hash_lists set entries = 1999999")
        .execute(&team.pool)
        .await
        .unwrap();
    let import = team.import(&file(0..5)).await.unwrap();
    let chunk = team.read(import).await.unwrap();
    assert_eq!(team.finish(&[chunk]).await.len(), 0);
    let found = team.import_found(import).await;
    assert_eq!((found.state, found.added), (State::Failed, 1));
    assert_eq!(
        found.error.as_deref(),
        Some("there are as many entries as there may be")
    );
    assert_eq!(team.add(pdq(77)).await, Addition::Full);

    for _ in 0..MAX_RUNNING {
        team.import("").await.unwrap();
    }
    assert_eq!(team.import("").await, None);
    let mut conn = team.pool.acquire().await.unwrap();
    let latest = Page {
        after: None,
        limit: 1,
    };
    let latest = import::list(&mut conn, team.list, latest).await.unwrap();
    // An empty file is read to its end, too.
    let chunk = team.read(latest[0].id).await.unwrap();
    team.finish(&[chunk]).await;
    assert_eq!(team.import_found(latest[0].id).await.state, State::Finished);
}
