//! Judges the texts with the real engine, so that every verdict can be explained like any other.

use std::time::Instant;

use anyhow::Context as _;
use builtin::Analyser;
use domain::{
    decision::{Findings, Judged, Part, Verdict, decide},
    id::GroupVersionId,
    media::OnFailure,
    rules::{CompiledGroup, Content},
    score::{Category, Scores},
};
use store::{PgPool, rule_group};

/// The groups of a site, compiled.
pub(super) struct Judge {
    groups: Vec<CompiledGroup>,
    analyser: Analyser,
}

impl Judge {
    /// Loads and compiles these versions.
    pub(super) async fn of(pool: &PgPool, versions: &[GroupVersionId]) -> anyhow::Result<Self> {
        let mut groups = Vec::with_capacity(versions.len());
        for version in versions {
            let found = rule_group::find_version(pool, *version).await?;
            let found = found.context("the version was just created")?;
            groups.push(CompiledGroup::compile(found.group, *version, &found.rules)?);
        }
        Ok(Self {
            groups,
            analyser: Analyser::new(),
        })
    }

    /// What judges.
    pub(super) fn versions(&self) -> Vec<GroupVersionId> {
        self.groups.iter().map(CompiledGroup::version).collect()
    }

    /// The verdict on a text, and its scores.
    pub(super) fn judge(&self, text: &str) -> (Verdict, Scores) {
        let scores = self.analyser.analyse(text);
        let wanted: Vec<Category> = Category::ALL
            .into_iter()
            .filter(|category| {
                self.groups
                    .iter()
                    .any(|g| g.categories().contains(category))
            })
            .collect();
        // A provider is asked for what the rules want to know.
        let scores: Scores = scores
            .iter()
            .filter(|(category, _)| wanted.contains(category))
            .collect();
        let mut judged = Vec::new();
        let mut violations = Vec::new();
        for group in &self.groups {
            let begun = Instant::now();
            violations.extend(group.examine(&Content {
                text: Some(text),
                scores: &scores,
                image_matches: &[],
            }));
            judged.push(Judged {
                group: group.group(),
                version: group.version(),
                micros: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
            });
        }
        let verdict = decide(Findings {
            groups: judged,
            violations,
            scores: Some(scores),
            wanted: &wanted,
            gaps: &[],
            text: Part::Examined,
            image: Part::Absent,
            unchecked: Vec::new(),
            on_failure: OnFailure::Review,
        });
        (verdict, scores)
    }
}
