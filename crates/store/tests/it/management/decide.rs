//! People's decisions: stored and told in the same way as the machine's. Of two decisions at once,
//! one is stored.

mod races;

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    event::EventKind,
    id::MediaId,
    media::{Ruling, Seen, Standing, Status, Step},
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

use crate::tenant::Tenant;

impl Tenant {
    pub(super) async fn standing(&self, media: MediaId) -> Standing {
        let mut conn = self.pool.acquire().await.unwrap();
        let found = standing(&mut conn, Reach::Team(self.team), media)
            .await
            .unwrap();
        let (team, standing) = found.unwrap();
        assert_eq!(team, self.team);
        standing
    }

    pub(super) async fn decide(&self, media: MediaId, step: Step) -> Option<Decided> {
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

    pub(super) async fn rule(&self, media: MediaId, ruling: Ruling) -> Option<Decided> {
        let step = self
            .standing(media)
            .await
            .ruled(ruling, Seen::default())
            .unwrap();
        self.decide(media, step).await
    }
}

#[sqlx::test(migrations = false)]
async fn a_decision_ends_the_review_and_goes_to_every_endpoint_that_wants_verdicts(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
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
    let fixture = Tenant::new(pool).await;
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
async fn another_teams_item_stands_nowhere(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let other = Tenant::another(&fixture.pool, "other").await;
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
