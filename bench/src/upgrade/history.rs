//! Items from before the upgrade, of a team that submits nothing.

use std::time::Instant;

use anyhow::Context as _;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::processes::Gatehouse;

/// Items to a transaction.
const BATCH: i64 = 50_000;

/// A second apart, decided long ago. `$1` is the site, `$2` and `$3` are the first and the last number.
const ITEMS: &str = "
with added as (
    insert into media (id, team_id, site_id, status, content_type, body, group_versions, verdict, created_at)
    select
        overlay(md5(n::text) placing lpad(to_hex((1700000000 + n) * 1000), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' from 1)::uuid,
        s.team_id, s.id, case when n % 10 = 0 then 'rejected' else 'approved' end, 'text',
        repeat(md5(n::text) || ' ', 4), array[g.live_version_id], 1, to_timestamp(1700000000 + n)
    from sites s
    join rule_groups g on g.id = s.default_rule_group_id
    cross join generate_series($2, $3) n
    where s.id = $1
    returning id, status, created_at
),
judged as (
    insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
    select
        id, 1, status, 'pending', 'ai',
        '{\"reason\": \"by the rules\", \"flagged_categories\": [], \"ai_analysis\": {\"adult\": 0.01}, \"rule_violations\": [],
          \"processing_time_ms\": 41}',
        json_build_object('groups', '[]'::json, 'decision', status),
        created_at + interval '40 milliseconds'
    from added
)
insert into analyses (media_id, scores, providers, unchecked, created_at)
select id, '{\"adult\": 0.01}', '[{\"provider\": \"builtin\", \"scores\": {\"adult\": 0.01}, \"duration_ms\": 3}]', '[]', created_at
from added";

/// The site that the items are of.
pub(super) struct History {
    site: Uuid,
}

impl History {
    /// Stores so many items of a new team, while the service does not run yet.
    pub(super) async fn fill(
        conn: &mut PgConnection,
        version: &Gatehouse,
        items: u32,
    ) -> anyhow::Result<Self> {
        let begun = Instant::now();
        let team = version.admin(&["create-team", "--name", "History"]).await?;
        let team = team["team_id"].as_str().context("no team")?.to_owned();
        let site = ["create-site", "--team", &team, "--name", "History"];
        let site = version.admin(&site).await?;
        let site: Uuid = site["site_id"].as_str().context("no site")?.parse()?;
        sqlx::query("set synchronous_commit = off")
            .execute(&mut *conn)
            .await?;
        let last = i64::from(items);
        for first in (1..=last).step_by(usize::try_from(BATCH)?) {
            sqlx::query(ITEMS)
                .bind(site)
                .bind(first)
                .bind(last.min(first + BATCH - 1))
                .execute(&mut *conn)
                .await
                .context("cannot fill in items")?;
        }
        // As autovacuum does in every real installation.
        for statement in ["reset synchronous_commit", "vacuum analyze", "checkpoint"] {
            sqlx::query(statement).execute(&mut *conn).await?;
        }
        eprintln!(
            "  {items} items filled in within {:.0} s",
            begun.elapsed().as_secs_f64()
        );
        Ok(Self { site })
    }

    /// Whether all of them are still there, and nothing but them. They are removed, because the audit is about what was submitted.
    pub(super) async fn remove(self, conn: &mut PgConnection, items: u32) -> anyhow::Result<bool> {
        for statement in [
            "delete from verdicts v using media m where m.id = v.media_id and m.site_id = $1",
            "delete from analyses a using media m where m.id = a.media_id and m.site_id = $1",
            "delete from media where site_id = $1",
        ] {
            let removed = sqlx::query(statement)
                .bind(self.site)
                .execute(&mut *conn)
                .await?;
            if removed.rows_affected() != u64::from(items) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
