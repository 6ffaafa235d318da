//! Statistics: figures by hour and day.

use api_common::{Code, Field, Json, Query, Refusal, Schema, Time};
use domain::{id::SiteId, scope::Scope, statistics::Interval};
use management::statistics::{self, Answer, Figures, Outcomes, Query as Wanted};
use poem_openapi::OpenApi;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Caller, Operation, Tag, example_values};

#[derive(Default)]
pub(crate) struct Statistics;

#[OpenApi(tag = "Tag::Statistics")]
impl Statistics {
    /// Read statistics
    ///
    /// Returns how many items were accepted, how they were decided and by whom, how long they waited for a moderator,
    /// and how webhooks were delivered: by hour or by day, in UTC. Without `site_id`, the figures are those of the
    /// token's team, or of all teams for an operator.
    ///
    /// The figures are a minute or two old: `counted_until` is the time until which they are complete. They are kept for
    /// 400 days, longer than items and events, because they contain no content.
    #[oai(path = "/statistics", method = "get", operation_id = "getStatistics")]
    async fn get_statistics(
        &self,
        caller: Caller,
        /// Only this site.
        site_id: Query<Uuid>,
        /// The figures begin with the hour or day that contains this time. By default, they cover 24 hours or 30 days.
        /// They cover at most 31 days by hour, and 400 days by day.
        from: Query<Time>,
        /// The figures end before this time, rounded up to a whole hour or day. The default is now.
        to: Query<Time>,
        /// The length of a bucket. The default is `day`.
        interval: Query<Interval>,
    ) -> Result<Json<StatisticsReport>, Refusal> {
        let wanted = Wanted {
            site: site_id.0.map(Into::into),
            from: from.0.map(|time| time.0),
            to: to.0.map(|time| time.0),
            interval: interval.0.unwrap_or(Interval::Day),
        };
        let answer = statistics::get(&caller, wanted).await?;
        Ok(Json(StatisticsReport::new(wanted, answer)))
    }
}

pub(crate) fn descriptions() -> Vec<Operation> {
    let report = json!({
        "site_id": example_values::SITE,
        "from": "2026-01-31T00:00:00.000000Z",
        "to": "2026-02-01T00:00:00.000000Z",
        "interval": "day",
        "counted_until": "2026-02-01T09:14:05.123456Z",
        "history_counted": true,
        "totals": figures(),
        "buckets": [{ "start": "2026-01-31T00:00:00.000000Z", "figures": figures() }],
        "top_rules": [{
            "rule_group_id": example_values::RULE_GROUP,
            "rule_id": example_values::RULE,
            "rule_name": "No insults",
            "matches": 37,
        }],
        "other_rule_matches": 0,
    });
    vec![
        Operation::new("getStatistics", Scope::MediaRead)
            .problems(&[Code::NotFound])
            .answer(report),
    ]
}

fn figures() -> Value {
    let outcomes = |approved, rejected, pending_review| json!({ "approved": approved, "rejected": rejected, "pending_review": pending_review });
    json!({
        "accepted": 4_711,
        "verdicts": {
            "rules": outcomes(120, 31, 6),
            "providers": outcomes(4_402, 84, 61),
            "moderators": outcomes(40, 22, 0),
            "failure_policy": outcomes(0, 0, 7),
        },
        "reviews": { "opened": 74, "decided": 62, "waited_seconds": 18_600.5 },
        "webhooks": { "delivered": 9_404, "failed_attempts": 18, "exhausted": 0, "discarded": 0 },
    })
}

/// What happened in a span of time.
#[derive(Serialize, Schema)]
pub(crate) struct StatisticsReport {
    /// The site. `null` if the figures are those of a team or of all teams.
    #[schema(nullable)]
    site_id: Option<Uuid>,
    /// The beginning of the first hour or day.
    from: Field<Time>,
    /// The end of the last hour or day.
    to: Field<Time>,
    /// The length of a bucket.
    interval: Field<Interval>,
    /// Everything that happened before this time is counted. What happened later is counted in part. A transaction of
    /// the database that stays open for long holds this time back, although the figures continue to grow.
    counted_until: Field<Time>,
    /// Whether what happened before statistics were introduced is counted, too. After an upgrade, this is `false` until
    /// all stored items were counted.
    history_counted: bool,
    /// The figures of the whole span.
    totals: StatisticsFigures,
    /// The figures of each hour or day in which something was counted, the earliest first. The others are omitted.
    buckets: Vec<StatisticsBucket>,
    /// The rules that matched most often, at most 20. Matches are counted by day, so they are those of all days that the
    /// span touches. Empty for an operator who does not name a site, because rules belong to teams.
    top_rules: Vec<RuleStatistics>,
    /// How often all other rules matched. On each day, the matches of the first 200 rules are counted by rule for each
    /// site and each team, and those of all further rules only here.
    other_rule_matches: i64,
}

/// The figures of an hour or a day.
#[derive(Serialize, Schema)]
struct StatisticsBucket {
    /// When it begins.
    start: Field<Time>,
    /// What happened in it.
    figures: StatisticsFigures,
}

/// Figures of a span of time. Each fact is counted in the hour in which it happened: a verdict in the hour of the
/// verdict, not in the hour in which its item was accepted.
#[derive(Serialize, Schema)]
struct StatisticsFigures {
    /// Items that were accepted.
    accepted: i64,
    /// Verdicts, by who decided.
    verdicts: VerdictStatistics,
    /// Items that waited for a moderator.
    reviews: ReviewStatistics,
    /// Webhooks.
    webhooks: WebhookStatistics,
}

/// Verdicts, by who decided. Each verdict is counted once. An item has one verdict of the machine, and one more for each
/// decision of a moderator.
#[derive(Serialize, Schema)]
struct VerdictStatistics {
    /// A content rule decided, or the rules found nothing and needed no scores (`moderation_type` `rule`).
    rules: OutcomeStatistics,
    /// Scores of a provider decided (`moderation_type` `ai`).
    providers: OutcomeStatistics,
    /// A moderator decided (`moderation_type` `manual`).
    moderators: OutcomeStatistics,
    /// Something could not be checked, so the site's `on_failure` decided, or the rules could not be evaluated.
    failure_policy: OutcomeStatistics,
}

/// Verdicts by outcome.
#[derive(Serialize, Schema)]
struct OutcomeStatistics {
    /// The item may be displayed.
    approved: i64,
    /// It may not be displayed.
    rejected: i64,
    /// A moderator must decide.
    pending_review: i64,
}

/// Items that waited for a moderator.
#[derive(Serialize, Schema)]
struct ReviewStatistics {
    /// How many began to wait.
    opened: i64,
    /// How many that waited were decided.
    decided: i64,
    /// How long these waited in all, in seconds. Divide by `decided` to get the mean.
    waited_seconds: f64,
}

/// Attempts to deliver webhooks, and webhooks that were given up.
#[derive(Serialize, Schema)]
struct WebhookStatistics {
    /// Attempts that succeeded. A webhook that is sent again is counted again.
    delivered: i64,
    /// Attempts that failed.
    failed_attempts: i64,
    /// Webhooks that were given up because all their attempts had failed.
    exhausted: i64,
    /// Webhooks that were given up because their endpoint was disabled or deleted.
    discarded: i64,
}

/// How often a rule matched.
#[derive(Serialize, Schema)]
struct RuleStatistics {
    /// The rule's group.
    rule_group_id: Uuid,
    /// The rule.
    rule_id: Uuid,
    /// The rule's name when it matched last.
    rule_name: String,
    /// In how many verdicts of the machine it is listed.
    matches: i64,
}

impl StatisticsReport {
    fn new(wanted: Wanted, answer: Answer) -> Self {
        let report = answer.report;
        let mut totals = Figures::default();
        for bucket in &report.buckets {
            totals += bucket.figures;
        }
        Self {
            site_id: wanted.site.map(SiteId::as_uuid),
            from: answer.from.into(),
            to: answer.to.into(),
            interval: Field(wanted.interval),
            counted_until: report.counted_until.into(),
            history_counted: report.has_history,
            totals: totals.into(),
            buckets: report.buckets.into_iter().map(Into::into).collect(),
            top_rules: report.rules.into_iter().map(Into::into).collect(),
            other_rule_matches: report.other_matches,
        }
    }
}

impl From<statistics::Bucket> for StatisticsBucket {
    fn from(bucket: statistics::Bucket) -> Self {
        Self {
            start: bucket.start.into(),
            figures: bucket.figures.into(),
        }
    }
}

impl From<Figures> for StatisticsFigures {
    fn from(figures: Figures) -> Self {
        let opened = [
            figures.rules,
            figures.providers,
            figures.people,
            figures.failures,
        ];
        #[expect(clippy::cast_precision_loss, reason = "exact up to 285,000 years")]
        let waited_ms = figures.reviews_waited_ms as f64;
        Self {
            accepted: figures.accepted,
            verdicts: VerdictStatistics {
                rules: figures.rules.into(),
                providers: figures.providers.into(),
                moderators: figures.people.into(),
                failure_policy: figures.failures.into(),
            },
            reviews: ReviewStatistics {
                opened: opened.iter().map(|by| by.pending_review).sum(),
                decided: figures.reviews_decided,
                waited_seconds: waited_ms / 1_000.0,
            },
            webhooks: WebhookStatistics {
                delivered: figures.delivered,
                failed_attempts: figures.failed_attempts,
                exhausted: figures.exhausted,
                discarded: figures.discarded,
            },
        }
    }
}

impl From<Outcomes> for OutcomeStatistics {
    fn from(outcomes: Outcomes) -> Self {
        Self {
            approved: outcomes.approved,
            rejected: outcomes.rejected,
            pending_review: outcomes.pending_review,
        }
    }
}

impl From<statistics::RuleMatches> for RuleStatistics {
    fn from(rule: statistics::RuleMatches) -> Self {
        Self {
            rule_group_id: rule.group.as_uuid(),
            rule_id: rule.rule.as_uuid(),
            rule_name: rule.name,
            matches: rule.matches,
        }
    }
}
