//! Rule groups as YAML files: what `gatehouse admin` reads, and the demo site's default group.

use std::path::Path;

use anyhow::Context as _;
use domain::rule_file::InputFile;

const DEMO: &str = include_str!("rule_file/demo.yaml");

/// Reads a group as its author wrote it, without checking the rules.
///
/// # Errors
/// The file cannot be read, or is not a rule group.
pub(crate) fn read(file: &Path) -> anyhow::Result<InputFile> {
    let yaml =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    InputFile::from_yaml(&yaml)
        .context("the file is not a rule group")
        .with_context(|| format!("{} cannot be loaded", file.display()))
}

/// The demo site's default group.
pub(crate) fn demo() -> InputFile {
    InputFile::from_yaml(DEMO).expect("the demo's rule group is tested")
}

#[cfg(test)]
mod tests {
    use domain::rules::CompiledGroup;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_demo_group_compiles_and_asks_for_scores() {
        let rules = demo().rules.into_rules(|| Uuid::now_v7().into()).unwrap();
        let nobody = Uuid::nil();
        let compiled = CompiledGroup::compile(nobody.into(), nobody.into(), &rules).unwrap();
        assert!(!compiled.categories().is_empty());
        assert_eq!(rules.len(), 7);
    }
}
