//! Statistics: each row is counted exactly once, whatever commits late and whatever is killed.

mod all_kinds;
mod backfill;
mod late_commits;
mod random_histories;
mod rules;
mod slices;

use chrono::{DateTime, DurationRound as _, TimeDelta, Utc};
use domain::statistics::Interval;
use store::statistics::{Figures, Report, Subject, report, slice};
use uuid::Uuid;

use crate::tenant::Tenant;

impl Tenant {
    /// Lets the chain run, as if its minute was over.
    async fn begin_statistics(&self) {
        self.execute("update statistics_progress set state = 'running', ended_at = null")
            .await;
    }

    /// Adds up everything that is committed, and returns the number of slices.
    async fn add_up(&self) -> usize {
        self.begin_statistics().await;
        let mut slices = 0;
        while let Some(slice) = slice::next(&self.pool).await.unwrap() {
            self.finish(&[slice]).await;
            slices += 1;
        }
        slices
    }

    async fn report(&self, subject: Subject) -> Report {
        let mut conn = self.pool.acquire().await.unwrap();
        let hour = Utc::now().duration_trunc(TimeDelta::hours(1)).unwrap();
        let (from, to) = (hour - TimeDelta::days(30), hour + TimeDelta::hours(1));
        report(&mut conn, subject, from, to, Interval::Hour)
            .await
            .unwrap()
    }

    /// All figures of a subject.
    async fn figures(&self, subject: Subject) -> Figures {
        let mut all = Figures::default();
        for bucket in self.report(subject).await.buckets {
            all += bucket.figures;
        }
        all
    }

    async fn accepted(&self) -> i64 {
        self.figures(Subject::Site(self.site)).await.accepted
    }
}

/// Inserts an item of a site.
async fn insert_item(conn: &mut sqlx::PgConnection, tenant: &Tenant, at: DateTime<Utc>) -> Uuid {
    let id = Uuid::now_v7();
    sqlx::query(
        "insert into media (id, team_id, site_id, content_type, body, group_versions, created_at)
         values ($1, $2, $3, 'text', 'text', '{}', $4)",
    )
    .bind(id)
    .bind(tenant.team.as_uuid())
    .bind(tenant.site.as_uuid())
    .bind(at)
    .execute(conn)
    .await
    .unwrap();
    id
}
