//! Backtests: every item is replayed once.

use chrono::Utc;
use domain::{
    actor::Actor,
    backtest::{Count, Decided},
    chain::State,
    id::BacktestId,
    media::{Ruling, Seen, Status},
    reach::Reach,
};
use sqlx::PgPool;
use store::{
    backtest::{
        self, Backtest, Change, NewBacktest,
        slice::{self, Look, Replayed, SLICE},
    },
    chain,
    media::{self, Decision},
    page::Page,
};
use uuid::Uuid;

use crate::tenant::Tenant;

impl Tenant {
    async fn backtest(&self, limit: i64) -> BacktestId {
        let mut tx = self.pool.begin().await.unwrap();
        let new = NewBacktest {
            team: self.team,
            group: self.group,
            version: None,
            rules: &[],
            site: Some(self.site),
            since: None,
            until: None,
            limit,
            by: Actor::Token(self.token),
        };
        let (id, jobs) = backtest::create(&mut tx, new).await.unwrap().unwrap();
        tx.commit().await.unwrap();
        assert_eq!(jobs.len(), 1);
        id
    }

    /// Looks at the next slice. Every decided item would be rejected.
    async fn replay(&self, backtest: BacktestId) -> Option<Replayed> {
        let slice = slice::next(&self.pool, backtest).await.unwrap()?;
        let mut replayed = Replayed::new(&slice);
        for item in &slice.items {
            replayed.add(match item.old {
                None => Look::Undecided,
                Some(old) => Look::Judged(Change {
                    media: item.item.media,
                    old,
                    new: Status::Rejected,
                    decided: item.decided,
                    rules: vec![Uuid::nil().into(); 30],
                }),
            });
        }
        Some(replayed)
    }

    async fn found(&self, backtest: BacktestId) -> backtest::Backtest {
        let mut conn = self.pool.acquire().await.unwrap();
        let found = backtest::find(&mut conn, Reach::Team(self.team), backtest).await;
        found.unwrap().unwrap()
    }
}

#[sqlx::test(migrations = false)]
async fn slices_meet_every_item_once_whoever_replays_them_twice(pool: PgPool) {
    let team = Tenant::new(pool).await;
    let pending = team.item().await;
    let mut items = Vec::new();
    for _ in 0..SLICE + 5 {
        items.push(team.item().await);
    }
    for item in &items {
        team.judge(*item, Status::Approved).await;
    }
    items.sort();
    // Somebody overturned one.
    let mut tx = team.pool.begin().await.unwrap();
    let (_, standing) = media::standing(&mut tx, Reach::Everything, items[0])
        .await
        .unwrap()
        .unwrap();
    let decision = Decision {
        media: items[0],
        step: standing.ruled(Ruling::Reject, Seen::default()).unwrap(),
        reason: &String::from("spam").try_into().unwrap(),
        moderator: Actor::Token(team.token),
    };
    media::decide(&mut tx, decision).await.unwrap().unwrap();
    tx.commit().await.unwrap();

    let backtest = team.backtest(100_000).await;
    let total = SLICE + 6;
    assert_eq!(team.found(backtest).await.total, total);
    let first = team.replay(backtest).await.unwrap();
    let again = team.replay(backtest).await.unwrap();
    assert_eq!(team.finish(&[first, again]).await.len(), 1);
    let found = team.found(backtest).await;
    assert_eq!((found.state, found.looked_at), (State::Running, SLICE));
    let second = team.replay(backtest).await.unwrap();
    assert_eq!(team.finish(&[second]).await.len(), 0);

    let found = team.found(backtest).await;
    assert_eq!((found.state, found.looked_at), (State::Finished, total));
    assert!(found.ended_at.is_some());
    assert_eq!((found.undecided, found.changed), (1, SLICE + 5));
    assert!(team.replay(backtest).await.is_none());
    let mut conn = team.pool.acquire().await.unwrap();
    let count = |decided, items| Count {
        old: Status::Approved,
        new: Status::Rejected,
        decided,
        items,
    };
    assert_eq!(
        backtest::counts(&mut conn, backtest).await.unwrap(),
        [
            count(Decided::Nobody, u64::try_from(SLICE + 4).unwrap()),
            count(Decided::Rejected, 1),
        ]
    );
    let all = Page {
        after: None,
        limit: 1_000,
    };
    let changes = backtest::changes(&mut conn, backtest, all).await.unwrap();
    let changed: Vec<_> = changes.iter().rev().map(|change| change.media).collect();
    assert_eq!(changed, items);
    assert!(changes.iter().all(|change| change.rules.len() == 20));
    assert!(!changed.contains(&pending));
}

#[sqlx::test(migrations = false)]
async fn a_cancelled_backtest_takes_no_slice_any_more(pool: PgPool) {
    let team = Tenant::new(pool).await;
    let item = team.item_of(team.site, Utc::now(), None).await;
    team.judge(item, Status::Approved).await;
    let backtest = team.backtest(10).await;
    let slice = team.replay(backtest).await.unwrap();
    let mut conn = team.pool.acquire().await.unwrap();
    assert!(backtest::cancel(&mut conn, backtest).await.unwrap());
    assert!(!backtest::cancel(&mut conn, backtest).await.unwrap());
    assert_eq!(team.finish(&[slice]).await.len(), 0);
    let found = team.found(backtest).await;
    assert_eq!((found.state, found.looked_at), (State::Cancelled, 0));
    let counted = "select count(*) from backtest_counts";
    assert_eq!(team.count(counted).await, 0);
    // The next one may run now.
    team.backtest(10).await;
    let old =
        "update backtests set ended_at = now() - interval '91 days' where state = 'cancelled'";
    sqlx::query(old).execute(&team.pool).await.unwrap();
    assert_eq!(chain::forget_old::<Backtest>(&team.pool).await.unwrap(), 1);
}
