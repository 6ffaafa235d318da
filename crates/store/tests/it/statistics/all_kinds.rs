//! All kinds of figures at once.

use chrono::{TimeDelta, Utc};
use domain::{
    actor::Actor,
    id::MediaId,
    media::{ModerationType, Ruling, Seen, Status},
    reach::Reach,
    reason::Reason,
};
use sqlx::PgPool;
use store::{
    item_progress::Progress,
    media::{Decision, decide, standing},
    statistics::{Figures, Outcomes, Subject},
    verdict::Concluded,
};
use uuid::Uuid;

use crate::tenant::Tenant;

impl Tenant {
    async fn conclude(&self, status: Status, by: ModerationType, trace: &str) -> MediaId {
        let media = self.item().await;
        let effect = Progress::from(Concluded {
            media,
            status,
            moderation_type: by,
            details: r#"{"rule_violations":[]}"#.into(),
            trace: trace.into(),
            shadows: Vec::new(),
        });
        self.finish(&[effect]).await;
        media
    }

    async fn ruled(&self, media: MediaId, ruling: Ruling) {
        let mut tx = self.pool.begin().await.unwrap();
        let found = standing(&mut tx, Reach::Everything, media).await.unwrap();
        let decision = Decision {
            media,
            step: found.unwrap().1.ruled(ruling, Seen::default()).unwrap(),
            reason: &Reason::try_from("Fine.".to_owned()).unwrap(),
            moderator: Actor::Token(self.token),
        };
        decide(&mut tx, decision).await.unwrap().unwrap();
        tx.commit().await.unwrap();
    }

    /// A delivery with attempts that ended so, and then with this state.
    async fn attempted(&self, outcomes: &[&str], state: &str) {
        let id = Uuid::now_v7();
        sqlx::query(
            "with endpoint as (
                 insert into webhook_endpoints (id, site_id, url, events) values ($1, $2, 'https://example.com', '{}')
             ),
             attempts as (
                 insert into delivery_attempts (delivery_id, number, started_at, duration_ms, outcome)
                 select $1, n, now(), 10, outcome from unnest($3::text[]) with ordinality as o (outcome, n)
             )
             insert into deliveries (id, event_id, endpoint_id) values ($1, $1, $1)",
        )
        .bind(id)
        .bind(self.site.as_uuid())
        .bind(outcomes)
        .execute(&self.pool)
        .await
        .unwrap();
        // Twice the same state is one end.
        for _ in 0..2 {
            sqlx::query("update deliveries set state = $2, ended_at = now() where id = $1")
                .bind(id)
                .bind(state)
                .execute(&self.pool)
                .await
                .unwrap();
        }
    }
}

const NOTHING: &str = r#"{"groups":[],"evidence":[],"unchecked":[]}"#;

const FAILED: &str = r#"{"evidence":[{"effect":"review"}],"unchecked":[{"what":"x"}]}"#;

#[sqlx::test(migrations = false)]
async fn every_kind_of_fact_is_counted_for_the_site_the_team_and_everything(pool: PgPool) {
    use ModerationType::{Ai, Rule};
    use Status::{Approved, PendingReview, Rejected};

    let tenant = Tenant::new(pool).await;
    let other = Tenant::another(&tenant.pool, "other").await;
    tenant.item().await;
    tenant.conclude(Approved, Rule, NOTHING).await;
    tenant.conclude(Approved, Ai, NOTHING).await;
    tenant.conclude(Rejected, Ai, NOTHING).await;
    // A rule asked for review, so it decided, although something was not checked.
    let first = tenant.conclude(PendingReview, Rule, FAILED).await;
    tenant.conclude(Rejected, Rule, FAILED).await;
    tenant.conclude(Approved, Rule, FAILED).await;
    let second = tenant
        .conclude(PendingReview, Rule, r#"{"job":1,"cause":"attempts"}"#)
        .await;
    tenant
        .execute("update verdicts set moderated_at = moderated_at - interval '10 s' where status = 'pending_review'")
        .await;
    tenant.ruled(first, Ruling::Approve).await;
    // Overturned: it did not wait.
    tenant.ruled(first, Ruling::Reject).await;
    tenant.ruled(second, Ruling::Reject).await;
    tenant
        .attempted(&["status", "timeout", "delivered"], "delivered")
        .await;
    tenant.attempted(&["refused"], "exhausted").await;
    tenant.attempted(&[], "discarded").await;
    other.item().await;

    tenant.add_up().await;
    let figures = tenant.figures(Subject::Site(tenant.site)).await;
    let waited = figures.reviews_waited_ms;
    assert!((20_000..80_000).contains(&waited), "{waited}");
    let expected = Figures {
        accepted: 8,
        rules: Outcomes {
            approved: 1,
            rejected: 0,
            pending_review: 1,
        },
        providers: Outcomes {
            approved: 1,
            rejected: 1,
            pending_review: 0,
        },
        people: Outcomes {
            approved: 1,
            rejected: 2,
            pending_review: 0,
        },
        failures: Outcomes {
            approved: 1,
            rejected: 1,
            pending_review: 1,
        },
        reviews_decided: 2,
        reviews_waited_ms: waited,
        delivered: 1,
        failed_attempts: 3,
        exhausted: 1,
        discarded: 1,
    };
    assert_eq!(figures, expected);
    assert_eq!(tenant.figures(Subject::Team(tenant.team)).await, expected);
    let everything = tenant.figures(Subject::Everything).await;
    assert_eq!(everything.accepted, 9);
    assert_eq!(everything.people, expected.people);
    let others = other.figures(Subject::Team(other.team)).await;
    assert_eq!(
        others,
        Figures {
            accepted: 1,
            ..Figures::default()
        }
    );
    assert_eq!(
        tenant
            .count("select count(*) from statistics_given_up")
            .await,
        0
    );
}

#[sqlx::test(migrations = false)]
async fn facts_belong_to_the_hour_in_which_they_happened(pool: PgPool) {
    let tenant = Tenant::new(pool).await;
    // Read once: the hour may end meanwhile.
    let now = Utc::now();
    for hours in [0, 1, 1, 30] {
        let at = now - TimeDelta::hours(hours);
        tenant.item_of(tenant.site, at, None).await;
    }
    tenant.add_up().await;
    let report = tenant.report(Subject::Site(tenant.site)).await;
    let accepted: Vec<i64> = report.buckets.iter().map(|b| b.figures.accepted).collect();
    assert_eq!(accepted, [1, 2, 1]);
}

#[sqlx::test(migrations = false)]
async fn figures_are_kept_for_400_days(pool: PgPool) {
    let tenant = Tenant::new(pool).await;
    for days in [0, 399, 402] {
        let at = Utc::now() - TimeDelta::days(days);
        tenant.item_of(tenant.site, at, None).await;
    }
    tenant.add_up().await;
    let hours = "select count(*) from statistics_hours where subject_id = '00000000-0000-0000-0000-000000000000'";
    assert_eq!(tenant.count(hours).await, 3);
    assert_eq!(
        store::statistics::forget_old(&tenant.pool).await.unwrap(),
        3
    );
    assert_eq!(tenant.count(hours).await, 2);
}
