//! A slice of a backtest: what a job replays, and the effect of having replayed it.

use std::{collections::BTreeMap, sync::Arc};

use chrono::{DateTime, Utc};
use domain::{
    backtest::Decided,
    id::{BacktestId, GroupVersionId, MediaId, RuleGroupId, RuleId, TeamId},
    media::Status,
    rules::Rule,
};
use queue::{Effect, FinishTx, Survivor};
use sqlx::{PgConnection, PgPool, types::Json};
use uuid::Uuid;

use crate::{
    Error,
    backtest::{Backtest, Change},
    chain::{self, End, Step},
    id_time::ids_within,
    jobs,
    verdict::{self, ToJudge, Wanted},
};

/// Items of a slice. Each takes a few milliseconds at most, so a worker can stop soon.
pub const SLICE: i64 = 200;

/// The most changes of a backtest that are listed.
pub const LISTED: i64 = 10_000;

/// What is replayed.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The group that is tried.
    pub group: RuleGroupId,
    /// Its version; nil for a draft.
    pub version: GroupVersionId,
    /// The rules, which compiled when the backtest was created.
    pub rules: Vec<Rule>,
}

/// The rules of a backtest; none if there is no such backtest.
pub async fn rules(pool: &PgPool, backtest: BacktestId) -> Result<Option<Replay>, Error> {
    let row = sqlx::query!(
        r#"select rule_group_id, version_id, rules as "rules: Json<Vec<Rule>>" from backtests where id = $1"#,
        backtest.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    Ok(row.map(|row| Replay {
        group: row.rule_group_id.into(),
        version: row.version_id.unwrap_or_default().into(),
        rules: row.rules.0,
    }))
}

/// The next slice.
#[derive(Debug)]
pub struct Slice {
    /// The backtest.
    pub backtest: BacktestId,
    /// Its team, which is the lane of its jobs.
    pub team: TeamId,
    /// Whether the group also judges items that it did not judge before.
    pub joins: bool,
    /// How many more changes may be listed.
    pub room: usize,
    /// The items, the newest first.
    pub items: Vec<ToReplay>,
    /// It begins after one item, and ends with another.
    step: Step<Option<Uuid>>,
}

/// An item that is looked at.
#[derive(Debug)]
pub struct ToReplay {
    /// What it is judged by.
    pub item: Arc<ToJudge>,
    /// Whether the group judged it.
    pub of_group: bool,
    /// Whether it was analysed.
    pub analysed: bool,
    /// What the machine said; none while it is pending.
    pub old: Option<Status>,
    /// What people decided.
    pub decided: Decided,
}

/// Loads the next slice; none if the backtest has ended.
pub async fn next(pool: &PgPool, backtest: BacktestId) -> Result<Option<Slice>, Error> {
    let row = sqlx::query!(
        "
        select team_id, rule_group_id, site_id, since, until, item_limit, looked_at, listed, walked_to
        from backtests
        where id = $1 and state = 'running'
        ",
        backtest.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let left = row.item_limit.saturating_sub(row.looked_at).max(0);
    let wanted = left.min(SLICE);
    let of = (row.team_id, row.site_id);
    let walked = walk(pool, of, (row.since, row.until), row.walked_to, wanted).await?;
    let last = i64::try_from(walked.len()).unwrap_or(i64::MAX) < wanted || left <= SLICE;
    let media: Vec<MediaId> = walked.iter().copied().map(MediaId::from).collect();
    let mut judged_by = verdict::load(pool, &media, Wanted::All).await?;
    let mut items = Vec::with_capacity(walked.len());
    let known = sqlx::query!(
        r#"
        select
            m.id,
            m.group_versions && array(select id from rule_group_versions where rule_group_id = $2) as "of_group!",
            exists (select from analyses a where a.media_id = m.id) as "analysed!",
            (select v.status from verdicts v where v.media_id = m.id and v.number = 1) as old,
            (
                select v.status
                from verdicts v
                where v.media_id = m.id and v.moderation_type = 'manual'
                order by v.number desc
                limit 1
            ) as decided
        from media m
        where m.id = any($1)
        order by m.id desc
        "#,
        &walked,
        row.rule_group_id,
    )
    .fetch_all(pool)
    .await?;
    for known in known {
        let Some(item) = judged_by.remove(&MediaId::from(known.id)) else {
            continue;
        };
        items.push(ToReplay {
            item: Arc::new(item),
            of_group: known.of_group,
            analysed: known.analysed,
            old: known.old.map(|status| status.parse()).transpose()?,
            decided: match known.decided.as_deref() {
                None => Decided::Nobody,
                Some(status) => status.parse()?,
            },
        });
    }
    Ok(Some(Slice {
        backtest,
        team: row.team_id.into(),
        joins: row.site_id.is_some(),
        room: usize::try_from(LISTED - row.listed).unwrap_or(0),
        items,
        step: Step {
            from: row.walked_to,
            to: walked.last().copied().or(row.walked_to),
            end: End::of(last),
        },
    }))
}

/// The most rules of a change that are listed.
const LISTED_RULES: usize = 20;

/// The effect of a slice: what it found is added to the backtest, and the next one is enqueued.
#[derive(Debug)]
pub struct Replayed {
    backtest: BacktestId,
    team: TeamId,
    step: Step<Option<Uuid>>,
    room: usize,
    looked_at: i64,
    of_other_groups: i64,
    undecided: i64,
    without_content: i64,
    without_scores: i64,
    changed: i64,
    counts: BTreeMap<(Status, Status, Decided), i64>,
    changes: Vec<Change>,
}

/// The result for an item that was looked at.
#[derive(Clone, Debug)]
pub enum Look {
    /// The group does not judge it.
    OfOtherGroups,
    /// It has no verdict yet.
    Undecided,
    /// Its content is no longer stored.
    WithoutContent,
    /// The rules ask for scores, and it was never analysed.
    WithoutScores,
    /// It was judged.
    Judged(Change),
}

impl Replayed {
    /// Starts empty, before any item of the slice was looked at.
    pub fn new(slice: &Slice) -> Self {
        Self {
            backtest: slice.backtest,
            team: slice.team,
            step: slice.step,
            room: slice.room,
            looked_at: 0,
            of_other_groups: 0,
            undecided: 0,
            without_content: 0,
            without_scores: 0,
            changed: 0,
            counts: BTreeMap::new(),
            changes: Vec::new(),
        }
    }

    /// The slice ends with this item; the next one begins after it.
    pub fn end_with(&mut self, item: MediaId) {
        self.step.to = Some(item.as_uuid());
        self.step.end = End::Open;
    }

    /// An item of the slice was looked at.
    pub fn add(&mut self, look: Look) {
        self.looked_at += 1;
        let mut change = match look {
            Look::OfOtherGroups => return self.of_other_groups += 1,
            Look::Undecided => return self.undecided += 1,
            Look::WithoutContent => return self.without_content += 1,
            Look::WithoutScores => return self.without_scores += 1,
            Look::Judged(change) => change,
        };
        let key = (change.old, change.new, change.decided);
        *self.counts.entry(key).or_default() += 1;
        if change.old != change.new {
            self.changed += 1;
            if self.changes.len() < self.room {
                change.rules.truncate(LISTED_RULES);
                self.changes.push(change);
            }
        }
    }
}

impl Effect for Replayed {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        for Survivor { effect, .. } in batch {
            if !effect.advance(tx.conn).await? {
                continue;
            }
            effect.count(tx.conn).await?;
            effect.list(tx.conn).await?;
            if effect.step.end == End::Open {
                tx.jobs.push(jobs::replay(effect.backtest, effect.team));
            }
        }
        Ok(())
    }
}

impl Replayed {
    /// False: the backtest was stopped, or this slice is not its next one.
    async fn advance(&self, conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
        if !chain::advance::<Backtest>(conn, self.backtest.as_uuid(), self.step).await? {
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

    async fn count(&self, conn: &mut PgConnection) -> Result<(), sqlx::Error> {
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

    async fn list(&self, conn: &mut PgConnection) -> Result<(), sqlx::Error> {
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

/// The next items of the team's sites, or of the one that is wanted.
async fn walk(
    pool: &PgPool,
    (team, site): (Uuid, Option<Uuid>),
    (since, until): (Option<DateTime<Utc>>, DateTime<Utc>),
    walked_to: Option<Uuid>,
    items: i64,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let (from, before) = ids_within(since, Some(until));
    let before = walked_to.map_or(before, |walked| walked.min(before));
    sqlx::query_scalar!(
        r#"
        select w.id as "id!"
        from sites s
        cross join lateral (
            select m.id
            from media m
            where
                m.site_id = s.id and m.id >= $3 and m.id < $4
                and ($5::timestamptz is null or m.created_at >= $5)
                and m.created_at < $6
            order by m.id desc
            limit $7
        ) w
        where s.team_id = $1 and ($2::uuid is null or s.id = $2)
        order by w.id desc
        limit $7
        "#,
        team,
        site,
        from,
        before,
        since,
        until,
        items,
    )
    .fetch_all(pool)
    .await
}
