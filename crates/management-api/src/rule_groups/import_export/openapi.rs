//! The OpenAPI descriptions of import and export: scopes, problems and examples.

use api_common::{openapi::at, problem::Code};
use domain::scope::Scope;
use serde_json::{Value, json};

use super::body::YAML;
use crate::{
    openapi::Operation,
    rule_groups::{created_example, draft, rule_schema},
};

/// Describes the exported file. Only the text says that YAML can be imported, too, because client
/// generators support one media type.
pub(crate) fn declare(document: &mut Value) {
    let answer = "/paths/~1rule-groups~1{rule_group_id}~1export/get/responses/200/content";
    at(document, answer)[YAML]["example"] = EXAMPLE.into();
}

/// An example of a document.
pub(super) const EXAMPLE: &str = "name: House rules
rules:
- name: Blocked words
  type: keyword
  keywords: [blockedword]
  effect: reject
";

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let file = json!({ "name": "Imported rules", "rules": rule_schema::examples() });
    vec![
        Operation {
            problems: &[Code::NameTaken, Code::LimitReached],
            request: Some(file.clone()),
            answer: Some(created_example()),
            ..Operation::new("importRuleGroup", Scope::RulesWrite)
        },
        Operation {
            problems: &[Code::DraftChanged],
            request: Some(file),
            answer: Some(draft::example()),
            ..Operation::new("importDraft", Scope::RulesWrite)
        },
        Operation::new("exportRuleGroup", Scope::RulesRead),
    ]
}

#[cfg(test)]
mod tests {
    use domain::rule_file::InputFile;

    use super::*;
    use crate::rule_groups::rules::RuleDocuments;

    #[test]
    fn the_example_is_a_rule_group() {
        let file = InputFile::from_yaml(EXAMPLE).unwrap();
        let rules = RuleDocuments(file.rules).into_rules().unwrap();
        assert_eq!((file.name.as_str(), rules.len()), ("House rules", 1));
    }
}
