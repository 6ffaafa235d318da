//! The OpenAPI descriptions of the operations on sites: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use crate::openapi::{Operation, example_values};

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let site = json!({
        "id": example_values::SITE,
        "team_id": example_values::TEAM,
        "name": "Comments",
        "on_failure": "review",
        "status_vocabulary": "state",
        "providers": ["openai", "builtin"],
        "policy": null,
        "answer_cache_seconds": null,
        "author_pointer": "/user/id",
        "compat_store": true,
        "compat_unchecked": "flag",
        "submissions_per_minute": null,
        "status_queries_per_minute": 100,
        "item_retention_days": 365,
        "content_retention_days": 90,
        "image_retention_days": 30,
        "webhook_retention_days": 30,
        "default_rule_group_id": example_values::RULE_GROUP,
        "rule_group_ids": [],
        "closure_id": null,
        "closed_at": null,
        "created_at": example_values::CREATED_AT,
    });
    let mut issued = json!({
        "webhook_secret": "whsec_RVhBTVBMRWV4YW1wbGVFWEFNUExFZXhhbXBsZUVYQU0=",
    });
    api_common::openapi::extend(&mut issued, "", site.clone());
    vec![
        Operation {
            answer: Some(example_values::list(&site)),
            ..Operation::new("listSites", Scope::SitesRead)
        },
        Operation {
            problems: &[Code::UnknownRuleGroup, Code::NameTaken, Code::LimitReached],
            request: Some(json!({
                "name": "Comments",
                "team_id": example_values::TEAM,
                "default_rule_group_id": example_values::RULE_GROUP,
                "status_queries_per_minute": 100,
            })),
            answer: Some(issued),
            ..Operation::new("createSite", Scope::SitesWrite)
        },
        Operation {
            answer: Some(site.clone()),
            ..Operation::new("getSite", Scope::SitesRead)
        },
        Operation {
            problems: &[Code::UnknownRuleGroup, Code::NameTaken],
            request: Some(json!({
                "on_failure": "review",
                "policy": "Spoilers are spam.",
                "submissions_per_minute": null,
            })),
            answer: Some(site),
            ..Operation::new("updateSite", Scope::SitesWrite)
        },
    ]
}
