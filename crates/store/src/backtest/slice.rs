//! A slice of a backtest: what a job replays, and the effect of having replayed it.

mod next_items;

use std::{collections::BTreeMap, sync::Arc};

use domain::{
    backtest::Decided,
    id::{BacktestId, GroupVersionId, MediaId, RuleGroupId, RuleId, TeamId},
    media::Status,
    rules::Rule,
};
use queue::{Effect, FinishTx, Survivor};
use sqlx::{PgConnection, PgPool, types::Json};
use uuid::Uuid;

use self::next_items::{known, standing, walk};
use crate::{
    Error,
    backtest::{Backtest, Change},
    chain::{self, End, Step},
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
    let Some(standing) = standing(pool, backtest).await? else {
        return Ok(None);
    };
    let left = standing.item_limit.saturating_sub(standing.looked_at).max(0);
    let wanted = left.min(SLICE);
    let walked = walk(pool, &standing, wanted).await?;
    let last = i64::try_from(walked.len()).unwrap_or(i64::MAX) < wanted || left <= SLICE;
    let media: Vec<MediaId> = walked.iter().copied().map(MediaId::from).collect();
    let mut judged_by = verdict::load(pool, &media, Wanted::All).await?;
    let mut items = Vec::with_capacity(walked.len());
    for known in known(pool, &walked, standing.rule_group_id).await? {
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
        team: standing.team_id.into(),
        joins: standing.site_id.is_some(),
        room: usize::try_from(LISTED - standing.listed).unwrap_or(0),
        items,
        step: Step {
            from: standing.walked_to,
            to: walked.last().copied().or(standing.walked_to),
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
