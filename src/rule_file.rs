//! Rule groups as YAML files: what `gatehouse admin load-rules` reads, and the demo site's default group.

use anyhow::Context as _;
use domain::{
    rule_file,
    rules::{CompiledGroup, Rule},
    score::Category,
};
use store::rule_group::NewVersion;
use uuid::Uuid;

const DEMO: &str = include_str!("rule_file/demo.yaml");

/// A rule group that compiles.
#[derive(Debug)]
pub(crate) struct RuleFile {
    /// The group's name.
    pub(crate) name: String,
    rules: Vec<Rule>,
    categories: Vec<Category>,
}

impl RuleFile {
    /// Reads a group and compiles it, so that nothing is stored that could not judge.
    ///
    /// # Errors
    /// Every mistake in the rules, with its place.
    pub(crate) fn parse(yaml: &str) -> anyhow::Result<Self> {
        let document = rule_file::RuleFile::from_yaml(yaml).context("the file is no rule group")?;
        let rules: Vec<Rule> = document
            .rules
            .into_iter()
            .map(|entry| entry.into_rule(|| Uuid::now_v7().into()))
            .collect();
        let compiled = CompiledGroup::compile(Uuid::nil().into(), Uuid::nil().into(), &rules)?;
        Ok(Self {
            name: document.name.into(),
            categories: compiled.categories().to_vec(),
            rules,
        })
    }

    /// The demo site's default group.
    pub(crate) fn demo() -> Self {
        Self::parse(DEMO).expect("the demo's rule group is tested")
    }

    /// What is stored.
    pub(crate) fn version(&self) -> NewVersion<'_> {
        NewVersion {
            rules: &self.rules,
            categories: &self.categories,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_group_compiles_and_asks_for_scores() {
        let demo = RuleFile::demo();
        assert!(!demo.categories.is_empty());
        assert_eq!(demo.rules.len(), 6);
    }

    #[test]
    fn a_mistake_is_reported_with_its_place() {
        let yaml =
            "name: x\nrules:\n  - {name: broken, type: regex, pattern: '(', effect: reject}\n";
        let error = format!("{:#}", RuleFile::parse(yaml).unwrap_err());
        assert!(error.contains("broken"), "{error}");
    }
}
