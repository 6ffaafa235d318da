//! Rule groups as YAML files: what `gatehouse admin load-rules` reads, and the demo site's default group.

use anyhow::{Context as _, anyhow};
use domain::{
    rule_file::GivenFile,
    rules::{CompiledGroup, Rule, RuleErrors},
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
        let document = GivenFile::from_yaml(yaml).context("the file is not a rule group")?;
        let rules = document.rules.into_rules(|| Uuid::now_v7().into());
        let rules = rules.map_err(|wrong| listed(&wrong.all_errors()))?;
        let compiled = CompiledGroup::compile(Uuid::nil().into(), Uuid::nil().into(), &rules)
            .map_err(|errors| listed(&errors))?;
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

/// A mistake a line.
fn listed(errors: &RuleErrors) -> anyhow::Error {
    let mut lines: Vec<String> = errors.iter().map(|error| format!("\n  {error}")).collect();
    if errors.has_more() {
        lines.push(format!(
            "\n  only the first {} mistakes are listed",
            RuleErrors::MOST
        ));
    }
    anyhow!("correct these mistakes:{}", lines.concat())
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
        assert!(error.contains("rules[0].pattern (`broken`)"), "{error}");
    }

    #[test]
    fn all_mistakes_are_told_a_line_each() {
        let yaml = "name: x
rules:
- {name: a, type: keyword, keywords: [x], effect: ban}
- {name: b, type: regex, pattern: '(', effect: reject}
- {name: c, type: magic}
";
        let error = format!("{:#}", RuleFile::parse(yaml).unwrap_err());
        let lines: Vec<&str> = error.lines().skip(1).map(str::trim).collect();
        assert_eq!(
            lines[0],
            "rules[0].effect (`a`): must be one of `reject`, `review` (line 3, column 51)"
        );
        assert!(
            lines[1].starts_with("rules[1].pattern (`b`)")
                && lines[1].ends_with("(line 4, column 35)")
        );
        assert!(lines[2].starts_with("rules[2].type (`c`): must be one of `keyword`"));
        assert_eq!(lines.len(), 3);
    }
}
