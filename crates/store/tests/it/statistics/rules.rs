//! Matches of rules, by site and day.

use std::fmt::Write as _;

use domain::media::{ModerationType, Status};
use sqlx::PgPool;
use store::{
    item_progress::Progress,
    statistics::{Subject, TOP_RULES},
    verdict::Concluded,
};
use uuid::Uuid;

use crate::tenant::Tenant;

const GROUP: Uuid = Uuid::from_u128(7);

impl Tenant {
    /// An item that these rules rejected.
    async fn matched(&self, rules: impl Iterator<Item = u128>) {
        let (mut violations, mut evidence) = (String::new(), String::new());
        for rule in rules {
            let comma = if violations.is_empty() { "" } else { "," };
            let id = Uuid::from_u128(rule);
            write!(
                violations,
                r#"{comma}{{"rule_id":"{id}","rule_name":"rule {rule}"}}"#
            )
            .unwrap();
            write!(
                evidence,
                r#"{comma}{{"rule_id":"{id}","effect":"reject","evidence":{{"kind":"text","group":"{GROUP}"}}}}"#
            )
            .unwrap();
        }
        let effect = Progress::from(Concluded {
            media: self.item().await,
            status: Status::Rejected,
            moderation_type: ModerationType::Rule,
            details: format!(r#"{{"rule_violations":[{violations}]}}"#),
            trace: format!(r#"{{"evidence":[{evidence}],"unchecked":[]}}"#),
            shadows: Vec::new(),
        });
        self.finish(&[effect]).await;
    }
}

#[sqlx::test(migrations = false)]
async fn rules_are_counted_by_name_and_those_beyond_200_together(pool: PgPool) {
    let tenant = Tenant::new(pool).await;
    for _ in 0..3 {
        tenant.matched([1, 2].into_iter()).await;
    }
    tenant.matched([2].into_iter()).await;
    tenant.add_up().await;
    for subject in [Subject::Site(tenant.site), Subject::Team(tenant.team)] {
        let report = tenant.report(subject).await;
        let found: Vec<_> = report
            .rules
            .iter()
            .map(|rule| {
                (
                    rule.group.as_uuid(),
                    rule.rule.as_uuid(),
                    rule.name.as_str(),
                    rule.matches,
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                (GROUP, Uuid::from_u128(2), "rule 2", 4),
                (GROUP, Uuid::from_u128(1), "rule 1", 3)
            ]
        );
        assert_eq!(report.other_matches, 0);
    }

    // 500 rules in one verdict, and then again: those that have a row keep it.
    for _ in 0..2 {
        tenant.matched(1..=500).await;
        tenant.add_up().await;
    }
    let rows = "select count(*) from statistics_rules group by subject_id limit 1";
    assert_eq!(tenant.count(rows).await, 201);
    let report = tenant.report(Subject::Site(tenant.site)).await;
    assert_eq!(report.rules.len(), TOP_RULES);
    assert_eq!(report.rules[0].matches, 6);
    let named: i64 = report.rules.iter().map(|rule| rule.matches).sum();
    assert_eq!(named + report.other_matches, 7 + 1_000);
    assert!(tenant.report(Subject::Everything).await.rules.is_empty());
}
