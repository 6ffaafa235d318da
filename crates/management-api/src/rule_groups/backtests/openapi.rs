//! The OpenAPI descriptions of the operations on backtests: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::json;

use crate::openapi::{Operation, example_values};

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let backtest = super::report::example();
    vec![
        Operation {
            answer: Some(example_values::list(&backtest)),
            ..Operation::new("listBacktests", Scope::RulesRead)
        },
        Operation {
            problems: &[Code::BacktestRunning, Code::LimitReached],
            request: Some(json!({
                "site_id": example_values::SITE,
                "since": "2026-01-01T00:00:00Z",
                "limit": 1_000,
            })),
            answer: Some(backtest.clone()),
            ..Operation::new("createBacktest", Scope::RulesWrite)
        },
        Operation {
            answer: Some(super::report::full_example()),
            ..Operation::new("getBacktest", Scope::RulesRead)
        },
        Operation {
            answer: Some(example_values::list(&super::report::change_example())),
            ..Operation::new("listBacktestChanges", Scope::RulesRead)
        },
        Operation {
            answer: Some(backtest),
            ..Operation::new("cancelBacktest", Scope::RulesWrite)
        },
    ]
}
