//! Statistics in responses.

use api_common::field::{Field, Time};
use domain::{id::SiteId, statistics::Interval};
use management::statistics::{Answer, Query};
use poem_openapi::Object;
use serde::Serialize;
use store::statistics::{self, Figures, Outcomes};
use uuid::Uuid;

/// What happened in a span of time.
#[derive(Serialize, Object)]
pub(crate) struct StatisticsReport {
    /// The site. `null` if the figures are those of a team or of all teams.
    #[oai(nullable)]
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
#[derive(Serialize, Object)]
struct StatisticsBucket {
    /// When it begins.
    start: Field<Time>,
    /// What happened in it.
    figures: StatisticsFigures,
}

/// Figures of a span of time. Each fact is counted in the hour in which it happened: a verdict in the hour of the
/// verdict, not in the hour in which its item was accepted.
#[derive(Serialize, Object)]
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
#[derive(Serialize, Object)]
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
#[derive(Serialize, Object)]
struct OutcomeStatistics {
    /// The item may be displayed.
    approved: i64,
    /// It may not be displayed.
    rejected: i64,
    /// A moderator must decide.
    pending_review: i64,
}

/// Items that waited for a moderator.
#[derive(Serialize, Object)]
struct ReviewStatistics {
    /// How many began to wait.
    opened: i64,
    /// How many that waited were decided.
    decided: i64,
    /// How long these waited in all, in seconds. Divide by `decided` to get the mean.
    waited_seconds: f64,
}

/// Attempts to deliver webhooks, and webhooks that were given up.
#[derive(Serialize, Object)]
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
#[derive(Serialize, Object)]
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
    pub(super) fn new(wanted: Query, answer: Answer) -> Self {
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
