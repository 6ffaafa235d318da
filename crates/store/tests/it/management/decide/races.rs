//! Decisions that meet other decisions.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    media::{Ruling, Seen, Status},
    reach::Reach,
    reason::Reason,
};
use sqlx::PgPool;
use store::media::{Decision, decide, standing};

use crate::tenant::Tenant;

#[sqlx::test(migrations = false)]
async fn a_decision_is_later_than_what_it_overturns_even_in_a_transaction_that_began_before(
    pool: PgPool,
) {
    let fixture = Tenant::new(pool).await;
    let media = fixture.item().await;
    let mut tx = fixture.pool.begin().await.unwrap();
    sqlx::query("select now()").execute(&mut *tx).await.unwrap();
    fixture.judge(media, Status::Approved).await;

    let (_, seen) = standing(&mut tx, Reach::Everything, media)
        .await
        .unwrap()
        .unwrap();
    let reason = Reason::try_from("No.".to_owned()).unwrap();
    let decision = Decision {
        media,
        step: seen.ruled(Ruling::Reject, Seen::default()).unwrap(),
        reason: &reason,
        moderator: Actor::Token(fixture.token),
    };
    decide(&mut tx, decision).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    let times: Vec<DateTime<Utc>> =
        sqlx::query_scalar("select moderated_at from verdicts order by number")
            .fetch_all(&fixture.pool)
            .await
            .unwrap();
    assert!(times[0] < times[1], "{times:?}");
}

#[sqlx::test(migrations = false)]
async fn of_two_decisions_at_once_one_is_stored_and_the_other_is_told(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let media = fixture.item().await;
    fixture.judge(media, Status::PendingReview).await;
    // Both have seen the same status, and both wait for the row.
    let seen = fixture.standing(media).await;
    let mut holder = fixture.pool.begin().await.unwrap();
    sqlx::query("select from media for update")
        .execute(&mut *holder)
        .await
        .unwrap();
    let [approve, reject] = [Ruling::Approve, Ruling::Reject]
        .map(|ruling| fixture.decide(media, seen.ruled(ruling, Seen::default()).unwrap()));
    let released = async {
        while fixture.count(WAITING).await < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        holder.commit().await.unwrap();
    };
    let (approved, rejected, ()) = tokio::join!(approve, reject, released);

    assert!(approved.is_some() != rejected.is_some());
    let standing = fixture.standing(media).await;
    assert_eq!(standing.verdicts, 2);
    assert_eq!(standing.status == Status::Approved, approved.is_some());
    assert_eq!(fixture.count("select count(*) from verdicts").await, 2);
    assert_eq!(fixture.count("select count(*) from events").await, 2);
}

const WAITING: &str = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

#[sqlx::test(migrations = false)]
async fn a_late_verdict_of_the_machine_changes_nothing(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let media = fixture.item().await;
    fixture.judge(media, Status::PendingReview).await;
    fixture.rule(media, Ruling::Reject).await.unwrap();
    let jobs = fixture.judge(media, Status::Approved).await;
    assert!(jobs.is_empty());
    assert_eq!(fixture.standing(media).await.status, Status::Rejected);
    assert_eq!(fixture.count("select count(*) from verdicts").await, 2);
}
