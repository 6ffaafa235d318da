//! The statements that add what a slice found to its backtest.

use domain::id::{MediaId, RuleId};
use sqlx::PgConnection;
use uuid::Uuid;

use super::replayed::Replayed;
use crate::{
    backtest::Backtest,
    chain::{self, End, Step},
};

impl Replayed {
    /// False: the backtest was stopped, or this slice is not its next one.
    pub(super) async fn advance(&self, conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
        let step = Step {
            from: self.from.map(MediaId::as_uuid),
            to: self.to.map(MediaId::as_uuid),
            end: End::of(self.last),
        };
        if !chain::advance::<Backtest>(conn, self.backtest.as_uuid(), step).await? {
            return Ok(false);
        }
        sqlx::query!(
            "
            update backtests
            set
                looked_at = looked_at + $2,
                of_other_groups = of_other_groups + $3,
                undecided = undecided + $4,
                without_content = without_content + $5,
                without_scores = without_scores + $6,
                changed = changed + $7,
                listed = listed + $8
            where id = $1
            ",
            self.backtest.as_uuid(),
            self.looked_at,
            self.of_other_groups,
            self.undecided,
            self.without_content,
            self.without_scores,
            self.changed,
            i64::try_from(self.changes.len()).unwrap_or(i64::MAX),
        )
        .execute(conn)
        .await?;
        Ok(true)
    }

    pub(super) async fn count(&self, conn: &mut PgConnection) -> Result<(), sqlx::Error> {
        let old: Vec<&str> = self.counts.keys().map(|key| key.0.as_str()).collect();
        let new: Vec<&str> = self.counts.keys().map(|key| key.1.as_str()).collect();
        let decided: Vec<&str> = self.counts.keys().map(|key| key.2.as_str()).collect();
        let items: Vec<i64> = self.counts.values().copied().collect();
        sqlx::query!(
            "
            insert into backtest_counts as c (backtest_id, old_status, new_status, decided, items)
            select $1, i.* from unnest($2::text [], $3::text [], $4::text [], $5::bigint []) as i
            on conflict (backtest_id, old_status, new_status, decided) do update set items = c.items + excluded.items
            ",
            self.backtest.as_uuid(),
            &old as &[&str],
            &new as &[&str],
            &decided as &[&str],
            &items,
        )
        .execute(conn)
        .await?;
        Ok(())
    }

    pub(super) async fn list(&self, conn: &mut PgConnection) -> Result<(), sqlx::Error> {
        let media: Vec<Uuid> = self.changes.iter().map(|c| c.media.as_uuid()).collect();
        let old: Vec<&str> = self.changes.iter().map(|c| c.old.as_str()).collect();
        let new: Vec<&str> = self.changes.iter().map(|c| c.new.as_str()).collect();
        let decided: Vec<&str> = self.changes.iter().map(|c| c.decided.as_str()).collect();
        // Postgres has no arrays of arrays of different lengths, so each list is sent as one text.
        let rules: Vec<String> = self
            .changes
            .iter()
            .map(|change| {
                let rules: Vec<String> = change.rules.iter().map(RuleId::to_string).collect();
                format!("{{{}}}", rules.join(","))
            })
            .collect();
        sqlx::query!(
            "
            insert into backtest_changes (backtest_id, media_id, old_status, new_status, decided, rule_ids)
            select $1, media_id, old_status, new_status, decided, rule_ids::uuid []
            from unnest($2::uuid [], $3::text [], $4::text [], $5::text [], $6::text [])
                as i (media_id, old_status, new_status, decided, rule_ids)
            ",
            self.backtest.as_uuid(),
            &media,
            &old as &[&str],
            &new as &[&str],
            &decided as &[&str],
            &rules,
        )
        .execute(conn)
        .await?;
        Ok(())
    }
}
