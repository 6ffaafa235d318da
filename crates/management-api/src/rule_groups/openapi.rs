//! The OpenAPI descriptions of the operations on rule groups: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use super::examples::{created_example, group_example};
use crate::openapi::{Operation, example_values};

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let group = group_example();
    let own = vec![
        Operation {
            answer: Some(example_values::list(&group)),
            ..Operation::new("listRuleGroups", Scope::RulesRead)
        },
        Operation {
            problems: &[Code::NameTaken, Code::LimitReached],
            request: Some(json!({
                "name": "Comment rules",
                "team_id": example_values::TEAM,
                "rules": super::rule_schema::examples(),
                "note": "What we had in the old system.",
            })),
            answer: Some(created_example()),
            ..Operation::new("createRuleGroup", Scope::RulesWrite)
        },
        Operation {
            answer: Some(group.clone()),
            ..Operation::new("getRuleGroup", Scope::RulesRead)
        },
        Operation {
            problems: &[Code::NameTaken],
            request: Some(json!({ "name": "House rules" })),
            answer: Some(group),
            ..Operation::new("updateRuleGroup", Scope::RulesWrite)
        },
        Operation {
            problems: &[Code::RuleGroupInUse],
            ..Operation::new("deleteRuleGroup", Scope::RulesWrite)
        },
    ];
    [
        own,
        super::draft::descriptions(),
        super::versions::descriptions(),
        super::diff::descriptions(),
        super::shadow::descriptions(),
        super::trial::descriptions(),
        super::backtests::descriptions(),
        super::import_export::descriptions(),
        super::attachments::descriptions(),
    ]
    .concat()
}
