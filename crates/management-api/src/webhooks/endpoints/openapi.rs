//! The OpenAPI descriptions of the operations on webhook endpoints: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use crate::openapi::{Operation, example_values};

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let endpoint = super::schemas::example();
    vec![
        Operation {
            answer: Some(example_values::list(&endpoint)),
            ..Operation::new("listWebhookEndpoints", Scope::WebhooksRead)
        },
        Operation {
            problems: &[Code::LimitReached],
            request: Some(json!({
                "url": "https://example.com/hooks",
                "description": "The moderation queue",
                "max_per_second": 50,
                "headers": [{ "name": "Authorization", "value": "Bearer of-our-gateway" }],
            })),
            answer: Some(endpoint.clone()),
            ..Operation::new("createWebhookEndpoint", Scope::WebhooksWrite)
        },
        Operation {
            answer: Some(endpoint.clone()),
            ..Operation::new("getWebhookEndpoint", Scope::WebhooksRead)
        },
        Operation {
            request: Some(json!({ "events": ["media.moderated"], "max_per_second": null })),
            answer: Some(endpoint.clone()),
            ..Operation::new("updateWebhookEndpoint", Scope::WebhooksWrite)
        },
        Operation {
            request: Some(json!({ "reason": "The receiver is being rebuilt." })),
            answer: Some(endpoint.clone()),
            ..Operation::new("disableWebhookEndpoint", Scope::WebhooksWrite)
        },
        Operation {
            answer: Some(endpoint),
            ..Operation::new("enableWebhookEndpoint", Scope::WebhooksWrite)
        },
        Operation {
            answer: Some(json!({ "deliveries": 17 })),
            ..Operation::new("retryWebhookEndpointNow", Scope::WebhooksWrite)
        },
        Operation::new("deleteWebhookEndpoint", Scope::WebhooksWrite),
        Operation {
            problems: &[Code::TooManyPings],
            answer: Some(super::schemas::ping_example()),
            ..Operation::new("pingWebhookEndpoint", Scope::WebhooksWrite)
        },
    ]
}
