//! The OpenAPI descriptions of exports: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use crate::openapi::{Operation, example_values};

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let export = json!({
        "id": example_values::EXPORT,
        "team_id": example_values::TEAM,
        "site_id": example_values::SITE,
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
        "upto": "01980f6e-7c1a-7d2e-9b3f-5a6b7c8d9e0f",
        "expires_at": "2026-02-07T12:00:00.123456Z",
    });
    vec![
        Operation {
            answer: Some(example_values::list(&export)),
            ..Operation::new("listExports", Scope::SitesExport)
        },
        Operation {
            problems: &[Code::LimitReached],
            request: Some(json!({ "site_id": example_values::SITE })),
            answer: Some(export.clone()),
            ..Operation::new("createExport", Scope::SitesExport)
        },
        Operation {
            answer: Some(export),
            ..Operation::new("getExport", Scope::SitesExport)
        },
        Operation {
            problems: &[Code::TooManyDownloads, Code::Closing],
            ..Operation::new("getExportArchive", Scope::SitesExport)
        },
    ]
}
