//! Lists that are compared with stored pictures: every picture is looked at once, and no verdict
//! changes.

use domain::{
    actor::Actor,
    chain::State,
    hash_list::EntryHashes,
    id::{HashEntryId, HashScanId, MediaId, TeamId},
    image_hash::{HashAlgorithm, HashMatch, ListKind},
    reach::Reach,
};
use sqlx::PgPool;
use store::{
    hash_list::{
        matches,
        scan::{
            self, NewScan,
            slice::{self, SLICE, Scanned},
        },
    },
    page::Page,
};
use uuid::Uuid;

use super::fixture::{Listed, pdq, sha256};

impl Listed {
    async fn start_scan(&self, team: Option<TeamId>) -> Option<HashScanId> {
        let mut tx = self.pool.begin().await.unwrap();
        let new = NewScan {
            list: self.list,
            team,
            since_revision: None,
            by: Actor::Token(self.token),
        };
        let (id, jobs) = scan::create(&mut tx, new).await.unwrap()?;
        tx.commit().await.unwrap();
        assert_eq!(jobs.len(), 1);
        Some(id)
    }

    /// Looks at the next slice: pictures with an odd number at the end of their hash are on the
    /// list.
    async fn scan(&self, scan: HashScanId) -> Option<Scanned> {
        let slice = slice::next(&self.pool, scan).await.unwrap()?;
        let odd = slice.images.iter().filter(|(_, hashed)| {
            let pdq = hashed.pdq.as_ref();
            pdq.is_some_and(|pdq| pdq.as_bytes()[3] % 2 == 1)
        });
        let matches = odd.map(|(media, _)| (*media, self.on_list()));
        Some(Scanned::new(&slice, matches.collect()))
    }

    fn on_list(&self) -> HashMatch {
        HashMatch {
            list: self.list,
            kind: ListKind::Deny,
            entry: HashEntryId::from(Uuid::nil()),
            algorithm: HashAlgorithm::Pdq,
            distance: 3,
        }
    }

    async fn scan_found(&self, scan: HashScanId) -> scan::Scan {
        let mut conn = self.pool.acquire().await.unwrap();
        let found = scan::find(&mut conn, Reach::Everything, scan).await;
        found.unwrap().unwrap()
    }
}

fn both(number: u32) -> EntryHashes {
    EntryHashes::new(sha256(number).sha256(), pdq(number).pdq()).unwrap()
}

#[sqlx::test(migrations = false)]
async fn slices_meet_every_picture_once_whoever_looks_at_them_twice(pool: PgPool) {
    let team = Listed::new(pool).await;
    let other = Listed::another(&team.pool, "other").await;
    other.picture(both(1)).await;
    let count = u32::try_from(SLICE).unwrap() + 10;
    let mut odd: Vec<MediaId> = Vec::new();
    for number in 0..count {
        let media = team.picture(both(number)).await;
        if number % 2 == 1 {
            odd.push(media);
        }
    }
    // One that was never hashed, and one that was known to be on the list.
    sqlx::query("insert into media (id, team_id, site_id, content_type, group_versions) values ($1, $2, $3, 'text', '{}')")
        .bind(Uuid::now_v7())
        .bind(team.team.as_uuid())
        .bind(team.site.as_uuid())
        .execute(&team.pool)
        .await
        .unwrap();
    let mut conn = team.pool.acquire().await.unwrap();
    let known = [(odd[0], team.on_list())];
    matches::record(&mut conn, &known, None).await.unwrap();

    let scan = team.start_scan(Some(team.team)).await.unwrap();
    let running = team.start_scan(Some(team.team)).await;
    assert_eq!(running, None);
    let first = team.scan(scan).await.unwrap();
    let again = team.scan(scan).await.unwrap();
    assert_eq!(team.finish(&[first, again]).await.len(), 1);
    let found = team.scan_found(scan).await;
    assert_eq!((found.state, found.looked_at), (State::Running, SLICE - 1));
    assert!(found.oldest.unwrap() < found.reached.unwrap());
    assert!(found.reached.unwrap() < found.until);
    let last = team.scan(scan).await.unwrap();
    assert_eq!(team.finish(&[last]).await.len(), 0);
    let found = team.scan_found(scan).await;
    assert_eq!(
        (found.state, found.looked_at),
        (State::Finished, i64::from(count))
    );
    assert_eq!(found.matched, i64::try_from(odd.len()).unwrap());

    let all = Page {
        after: None,
        limit: 10_000,
    };
    let listed = scan::matches(&mut conn, scan, all).await.unwrap();
    let listed: Vec<_> = listed.iter().rev().map(|found| found.media).collect();
    assert_eq!(listed, odd);
    let stored = "select count(*) from image_matches where scan_id is not null";
    assert_eq!(team.count(stored).await, found.matched - 1);
    let stored = matches::of(&team.pool, &odd[..2]).await.unwrap();
    assert_eq!(stored[&odd[1]], [team.on_list()]);
    assert_eq!(team.count("select count(*) from verdicts").await, 0);

    // All teams'.
    let scan = team.start_scan(None).await.unwrap();
    while let Some(slice) = team.scan(scan).await {
        team.finish(&[slice]).await;
    }
    let found = team.scan_found(scan).await;
    assert_eq!(
        (found.state, found.looked_at),
        (State::Finished, i64::from(count) + 1)
    );
    let seen = scan::find(&mut conn, Reach::Team(team.team), scan)
        .await
        .unwrap();
    assert!(
        seen.is_none(),
        "a team does not see what was found of others"
    );
}

#[sqlx::test(migrations = false)]
async fn a_cancelled_scan_takes_no_slice_any_more(pool: PgPool) {
    let team = Listed::new(pool).await;
    team.picture(both(1)).await;
    let scan = team.start_scan(Some(team.team)).await.unwrap();
    let slice = team.scan(scan).await.unwrap();
    let mut conn = team.pool.acquire().await.unwrap();
    assert!(scan::cancel(&mut conn, scan).await.unwrap());
    assert!(!scan::cancel(&mut conn, scan).await.unwrap());
    assert_eq!(team.finish(&[slice]).await.len(), 0);
    let found = team.scan_found(scan).await;
    assert_eq!((found.state, found.looked_at), (State::Cancelled, 0));
    assert_eq!(team.count("select count(*) from image_matches").await, 0);
    // The next one may run now.
    team.start_scan(Some(team.team)).await.unwrap();
}
