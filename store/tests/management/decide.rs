//! People's decisions: stored and told in the same way as the machine's, and one of two at once.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    event::EventKind,
    id::MediaId,
    media::{Ruling, Standing, Status, Step},
    reach::Reach,
    reason::Reason,
};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{
    endpoint,
    media::{Decided, Decision, decide, standing},
};
use uuid::Uuid;

use crate::fixture::Fixture;

impl Fixture {
    async fn standing(&self, media: MediaId) -> Standing {
        let mut conn = self.pool.acquire().await.unwrap();
        let found = standing(&mut conn, Reach::Team(self.team), media)
            .await
            .unwrap();
        let (team, standing) = found.unwrap();
        assert_eq!(team, self.team);
        standing
    }

    async fn decide(&self, media: MediaId, step: Step) -> Option<Decided> {
        let reason = Reason::try_from("It is \"fine\".".to_owned()).unwrap();
        let mut tx = self.pool.begin().await.unwrap();
        let decision = Decision {
            media,
            step,
            reason: &reason,
            moderator: Actor::Token(self.token),
        };
        let decided = decide(&mut tx, decision).await.unwrap();
        tx.commit().await.unwrap();
        decided
    }

    async fn rule(&self, media: MediaId, ruling: Ruling) -> Option<Decided> {
        let step = self.standing(media).await.ruled(ruling, None).unwrap();
        self.decide(media, step).await
    }
}

#[sqlx::test(migrations = false)]
async fn a_decision_ends_the_review_and_goes_to_every_endpoint_that_wants_verdicts(pool: PgPool) {
    let fixture = Fixture::new(pool).await;
    let mut conn = fixture.pool.acquire().await.unwrap();
    for events in [
        &[EventKind::MediaModerated][..],
        EventKind::ALL,
        &[EventKind::MediaCreated],
    ] {
        endpoint::create(&mut conn, fixture.site, "https://example.com/", events)
            .await
            .unwrap();
    }
    let media = fixture.item().await;
    let untouched = fixture.item().await;
    for item in [media, untouched] {
        fixture.judge(item, Status::PendingReview).await;
    }
    let told_before = fixture.count("select count(*) from deliveries").await;

    let decided = fixture.rule(media, Ruling::Approve).await.unwrap();

    assert_eq!(decided.jobs.len(), 2);
    let standing = fixture.standing(media).await;
    assert_eq!((standing.status, standing.verdicts), (Status::Approved, 2));
    let waiting: Vec<Uuid> = sqlx::query_scalar("select media_id from reviews")
        .fetch_all(&fixture.pool)
        .await
        .unwrap();
    assert_eq!(waiting, [untouched.as_uuid()]);
    assert_eq!(
        fixture.count("select count(*) from deliveries").await,
        told_before + 2
    );
    assert_eq!(
        fixture
            .count(
                "select count(*) from queue.jobs j
                 join deliveries d on d.id = (j.payload ->> 'delivery')::uuid and d.endpoint_id = j.lane
                 join events e on e.id = d.event_id
                 where j.queue = 'webhooks' and e.kind = 'media.moderated' and e.verdict = 2"
            )
            .await,
        2
    );
    let (previous, kind, details, trace, at, told_at): (
        String,
        String,
        Value,
        Value,
        DateTime<Utc>,
        DateTime<Utc>,
    ) = sqlx::query_as(
        "select v.previous_status, v.moderation_type, v.details, v.trace, v.moderated_at, e.occurred_at
         from verdicts v
         join events e on e.media_id = v.media_id and e.verdict = v.number
         where v.media_id = $1 and v.number = 2",
    )
    .bind(media.as_uuid())
    .fetch_one(&fixture.pool)
    .await
    .unwrap();
    assert_eq!(
        (previous.as_str(), kind.as_str()),
        ("pending_review", "manual")
    );
    assert_eq!(
        details,
        json!({ "rule_violations": [], "reason": "It is \"fine\"." })
    );
    assert_eq!(
        trace,
        json!({
            "moderator": { "token_id": fixture.token, "token_name": "Ada" },
            "reason": "It is \"fine\".",
        })
    );
    assert_eq!((at, told_at), (decided.moderated_at, decided.moderated_at));
}

#[sqlx::test(migrations = false)]
async fn verdicts_of_people_follow_each_other_in_number_and_time(pool: PgPool) {
    let fixture = Fixture::new(pool).await;
    let media = fixture.item().await;
    fixture.judge(media, Status::Rejected).await;
    for ruling in [Ruling::Approve, Ruling::Reject, Ruling::Approve] {
        fixture.rule(media, ruling).await.unwrap();
    }
    let history: Vec<(i16, String, String)> = sqlx::query_as(
        "select number, previous_status, status from verdicts where media_id = $1 order by moderated_at",
    )
    .bind(media.as_uuid())
    .fetch_all(&fixture.pool)
    .await
    .unwrap();
    let history: Vec<(i16, &str, &str)> = history
        .iter()
        .map(|(number, from, to)| (*number, from.as_str(), to.as_str()))
        .collect();
    assert_eq!(
        history,
        [
            (1, "pending", "rejected"),
            (2, "rejected", "approved"),
            (3, "approved", "rejected"),
            (4, "rejected", "approved")
        ]
    );
    let all_told = fixture
        .count(
            "select count(*) from events e join verdicts v on v.media_id = e.media_id and v.number = e.verdict
             where e.occurred_at = v.moderated_at",
        )
        .await;
    assert_eq!(all_told, 4);
}

#[sqlx::test(migrations = false)]
async fn a_decision_is_later_than_what_it_overturns_even_in_a_transaction_that_began_before(
    pool: PgPool,
) {
    let fixture = Fixture::new(pool).await;
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
        step: seen.ruled(Ruling::Reject, None).unwrap(),
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
    let fixture = Fixture::new(pool).await;
    let media = fixture.item().await;
    fixture.judge(media, Status::PendingReview).await;
    // Both have seen the same, and both wait for the row.
    let seen = fixture.standing(media).await;
    let mut holder = fixture.pool.begin().await.unwrap();
    sqlx::query("select from media for update")
        .execute(&mut *holder)
        .await
        .unwrap();
    let [approve, reject] = [Ruling::Approve, Ruling::Reject]
        .map(|ruling| fixture.decide(media, seen.ruled(ruling, None).unwrap()));
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
    let fixture = Fixture::new(pool).await;
    let media = fixture.item().await;
    fixture.judge(media, Status::PendingReview).await;
    fixture.rule(media, Ruling::Reject).await.unwrap();
    let jobs = fixture.judge(media, Status::Approved).await;
    assert!(jobs.is_empty());
    assert_eq!(fixture.standing(media).await.status, Status::Rejected);
    assert_eq!(fixture.count("select count(*) from verdicts").await, 2);
}

#[sqlx::test(migrations = false)]
async fn another_teams_item_stands_nowhere(pool: PgPool) {
    let fixture = Fixture::new(pool).await;
    let other = Fixture::another(&fixture.pool, "other").await;
    let theirs = other.item().await;
    let mut conn = fixture.pool.acquire().await.unwrap();
    let mut ask = async |reach, media| standing(&mut conn, reach, media).await.unwrap();
    assert_eq!(ask(Reach::Team(fixture.team), theirs).await, None);
    assert_eq!(
        ask(Reach::Team(other.team), theirs).await,
        Some((other.team, Standing::ACCEPTED))
    );
    assert_eq!(
        ask(Reach::Everything, theirs).await,
        Some((other.team, Standing::ACCEPTED))
    );
    assert_eq!(
        ask(Reach::Everything, MediaId::from(Uuid::nil())).await,
        None
    );
}
