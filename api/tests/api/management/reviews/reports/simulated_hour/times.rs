//! When everything was said.

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use super::Hour;

impl Hour<'_> {
    /// Everything happens in one hour, and the last five decisions a day later.
    pub(super) async fn set_times(&mut self) {
        let as_stored = "select count(*) from review_opinions o where o.kind = 'review' and (o.said_at < o.waiting_since
             or o.due_at <> o.waiting_since
                 + make_interval(mins => ('{2880,1440,240,60}'::integer [])[o.severity + 1]))";
        assert_eq!(self.app.count(as_stored).await, 0);
        let begin: DateTime<Utc> = "2026-01-15T10:30:00Z".parse().unwrap();
        let late = self.said.len() - 5;
        for number in 0..self.said.len() {
            let day = TimeDelta::days(i64::from(number >= late));
            let at = begin + day + TimeDelta::seconds(i64::try_from(number).unwrap() * 8);
            let waited = i64::try_from(self.draw(900_000)).unwrap();
            let allowed = i64::try_from(self.draw(1_500)).unwrap() * 1_000;
            let (review, person) = (self.said[number].review, self.said[number].person);
            let person: Uuid = self.people[person].1.parse().unwrap();
            let since = at - TimeDelta::milliseconds(waited);
            let set = "update review_opinions
                 set said_at = $3, waiting_since = $4, due_at = $5
                 where task_id = $1 and actor_id = $2";
            let done = sqlx::query(set)
                .bind(review)
                .bind(person)
                .bind(at)
                .bind(since)
                .bind(since + TimeDelta::milliseconds(allowed))
                .execute(&self.app.pool)
                .await
                .unwrap();
            assert_eq!(done.rows_affected(), 1);
            let said = &mut self.said[number];
            (said.at, said.waited_ms, said.allowed_ms) = (at, waited, allowed);
        }
        self.late = self.said.split_off(late);
        for item in 240..252 {
            let is_overdue = self.draw(3) == 0;
            let since = begin - TimeDelta::minutes(i64::try_from(self.draw(600)).unwrap());
            let due = if is_overdue {
                begin
            } else {
                Utc::now() + TimeDelta::days(1)
            };
            let set = "update review_tasks set waiting_since = $2, due_at = $3 where media_id = $1::text::uuid";
            sqlx::query(set)
                .bind(&self.items[item].media)
                .bind(since)
                .bind(due)
                .execute(&self.app.pool)
                .await
                .unwrap();
            self.waiting.push((item, since, is_overdue));
        }
    }
}
