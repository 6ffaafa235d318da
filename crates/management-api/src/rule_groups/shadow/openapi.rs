//! The OpenAPI descriptions of the operations on shadows: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use crate::{
    openapi::{Operation, example_values},
    rule_groups::group_example,
};

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let mut shadowed = group_example();
    shadowed["shadow_version_id"] = example_values::OTHER_VERSION.into();
    shadowed["shadow_version_number"] = 4.into();
    let difference = json!({
        "media_id": example_values::MEDIA,
        "live_status": "approved",
        "shadow_status": "pending_review",
        "judged_at": example_values::CREATED_AT,
    });
    vec![
        Operation {
            problems: &[Code::VersionIsLive],
            request: Some(json!({ "version_id": example_values::OTHER_VERSION })),
            answer: Some(shadowed),
            ..Operation::new("setShadowVersion", Scope::RulesWrite)
        },
        Operation {
            answer: Some(group_example()),
            ..Operation::new("endShadowVersion", Scope::RulesWrite)
        },
        Operation {
            answer: Some(json!({
                "version_id": example_values::OTHER_VERSION,
                "judged": 1_000,
                "differing": 12,
                "unscored": 0,
                "counts": [
                    { "live_status": "approved", "shadow_status": "approved", "items": 988 },
                    { "live_status": "approved", "shadow_status": "pending_review", "items": 12 },
                ],
            })),
            ..Operation::new("getShadowReport", Scope::RulesRead)
        },
        Operation {
            answer: Some(example_values::list(&difference)),
            ..Operation::new("listShadowDifferences", Scope::RulesRead)
        },
    ]
}
