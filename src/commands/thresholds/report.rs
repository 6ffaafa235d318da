//! What was found, for people and for programs.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Value, json};

use super::{
    super::table::{Left, Right, Table},
    matching_threshold::{Agreement, Matched, matched},
    sample::{Category, Sample, Skipped},
};

/// A figure that rests on fewer texts says little.
const FEW: usize = 20;

/// The result of the command.
pub(super) struct Report<'a> {
    /// The name of the other service.
    their_name: &'static str,
    /// As `--from` has it.
    from: &'static str,
    /// Whether all lines of the file are in it.
    is_complete: bool,
    texts: u64,
    skipped: &'a Skipped,
    rows: Vec<Row>,
}

struct Row {
    category: String,
    /// The user's threshold.
    theirs: f64,
    outcome: Outcome,
}

enum Outcome {
    Matched(Matched),
    /// None of so many texts that both scored reaches the user's threshold.
    NoneReaches(usize),
    /// So many texts reach the user's threshold, and we scored none of them.
    NotScoredHere(usize),
    /// The user named it, and they scored no text for it.
    NotScoredThere,
}

impl<'a> Report<'a> {
    /// The user's thresholds by category, and one for all others.
    pub(super) fn new(
        (their_name, from): (&'static str, &'static str),
        is_complete: bool,
        sample: &Sample,
        skipped: &'a Skipped,
        thresholds: &BTreeMap<String, f64>,
        default: f64,
    ) -> Self {
        let mut rows = Vec::new();
        for (name, category) in &sample.categories {
            let theirs = thresholds.get(name).copied().unwrap_or(default);
            let is_named = thresholds.contains_key(name);
            if let Some(outcome) = outcome(category, theirs, is_named) {
                rows.push(Row {
                    category: name.clone(),
                    theirs,
                    outcome,
                });
            }
        }
        for (name, theirs) in thresholds {
            if !sample.categories.contains_key(name) {
                rows.push(Row {
                    category: name.clone(),
                    theirs: *theirs,
                    outcome: Outcome::NotScoredThere,
                });
            }
        }
        Self {
            their_name,
            from,
            is_complete,
            texts: sample.texts,
            skipped,
            rows,
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let skipped = self.skipped;
        json!({
            "from": self.from,
            "complete": self.is_complete,
            "texts": self.texts,
            "skipped": {
                "no_text": skipped.no_text,
                "invalid": skipped.invalid,
                "refused_there": skipped.refused_there,
                "refused_here": skipped.refused_here,
            },
            "categories": self.rows.iter().map(Row::to_json).collect::<Vec<_>>(),
        })
    }

    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{} texts have the scores of {} and of Gatehouse.{}",
            self.texts,
            self.their_name,
            if self.is_complete {
                ""
            } else {
                " The file has more: the command did not reach its end."
            }
        );
        let mut matched = self.rows.iter().filter_map(Row::cells).peekable();
        if matched.peek().is_some() {
            let mut table = Table::new([
                ("category", Left),
                ("yours", Right),
                ("here", Right),
                ("texts", Right),
                ("selected there, here", Right),
                ("both", Right),
                ("only there", Right),
                ("only here", Right),
                ("of theirs", Right),
                ("of ours", Right),
            ]);
            matched.for_each(|cells| table.push(cells));
            let _ = write!(
                text,
                "\n{}\nyours: your threshold at {}. here: the threshold here that selects as many texts.\n\
                 texts: texts with a score of both. selected there, here: those from the threshold on.\n\
                 of theirs: the share of the texts selected there that is selected here, too. of ours: the reverse.\n",
                table.render(),
                self.their_name
            );
        }
        let notes: Vec<String> = self
            .rows
            .iter()
            .flat_map(|row| row.notes(self.their_name))
            .collect();
        if !notes.is_empty() {
            text.push('\n');
            for note in notes {
                let _ = writeln!(text, "{note}");
            }
        }
        if let Some(not_counted) = not_counted(self.skipped) {
            let _ = writeln!(text, "\nLines that do not count: {not_counted}.");
        }
        text
    }
}

/// `None` for a category that only we have.
fn outcome(category: &Category, theirs: f64, is_named: bool) -> Option<Outcome> {
    if category.pairs.is_empty() {
        let reach = category
            .only_theirs
            .iter()
            .filter(|score| **score >= theirs);
        return if category.only_theirs.is_empty() {
            is_named.then_some(Outcome::NotScoredThere)
        } else {
            Some(Outcome::NotScoredHere(reach.count()))
        };
    }
    Some(match matched(&category.pairs, theirs) {
        Some(found) => Outcome::Matched(found),
        None => Outcome::NoneReaches(category.pairs.len()),
    })
}

impl Row {
    fn to_json(&self) -> Value {
        let mut row = json!({
            "category": self.category,
            "their_threshold": self.theirs,
            "our_threshold": null,
        });
        match &self.outcome {
            Outcome::Matched(found) => {
                let counts = found.agreement;
                row["our_threshold"] = json!(found.threshold);
                row["texts"] = counts.texts().into();
                row["selected"] = json!({
                    "theirs": counts.theirs(),
                    "ours": counts.ours(),
                    "both": counts.both,
                    "only_theirs": counts.only_theirs,
                    "only_ours": counts.only_ours,
                    "neither": counts.neither,
                });
                row["share_of_theirs"] = share(counts.both, counts.theirs()).into();
                row["share_of_ours"] = share(counts.both, counts.ours()).into();
                row["few_texts"] = is_few(counts).into();
            }
            Outcome::NoneReaches(texts) => {
                row["texts"] = (*texts).into();
                row["why"] = "none_reaches".into();
            }
            Outcome::NotScoredHere(reach) => {
                row["selected"] = json!({ "theirs": reach });
                row["why"] = "not_scored_here".into();
            }
            Outcome::NotScoredThere => row["why"] = "not_scored_there".into(),
        }
        row
    }

    /// Its line of the table.
    fn cells(&self) -> Option<[String; 10]> {
        let Outcome::Matched(found) = &self.outcome else {
            return None;
        };
        let counts = found.agreement;
        let percent = |of| format!("{:.0} %", 100.0 * share(counts.both, of));
        Some([
            self.category.clone(),
            self.theirs.to_string(),
            found.threshold.to_string(),
            counts.texts().to_string(),
            format!("{}, {}", counts.theirs(), counts.ours()),
            counts.both.to_string(),
            counts.only_theirs.to_string(),
            counts.only_ours.to_string(),
            percent(counts.theirs()),
            percent(counts.ours()),
        ])
    }

    fn notes(&self, their_name: &str) -> Vec<String> {
        let name = &self.category;
        let theirs = self.theirs;
        match &self.outcome {
            Outcome::Matched(found) => {
                let mut notes = Vec::new();
                let counts = found.agreement;
                if counts.theirs() < FEW {
                    notes.push(format!(
                        "{name}: the figures rest on few texts. Only {} reach your threshold.",
                        counts.theirs()
                    ));
                } else if is_few(counts) {
                    notes.push(format!(
                        "{name}: the figures rest on few texts. Only {} are below your threshold.",
                        counts.texts() - counts.theirs()
                    ));
                }
                if counts.ours() != counts.theirs() {
                    notes.push(format!(
                        "{name}: texts have equal scores here, so {} are selected and not {}.",
                        counts.ours(),
                        counts.theirs()
                    ));
                }
                notes
            }
            Outcome::NoneReaches(texts) => vec![format!(
                "{name}: none of {texts} texts reaches your threshold {theirs}, so there is nothing to match."
            )],
            Outcome::NotScoredHere(reach) => vec![format!(
                "{name}: never scored here. Gatehouse has no such category, or no provider of the site scores it. \
                 {reach} texts reach your threshold {theirs} at {their_name}."
            )],
            Outcome::NotScoredThere => vec![format!(
                "{name}: {their_name} scored no text for it. Is the name right?"
            )],
        }
    }
}

/// Whether a figure rests on few texts, of which it would need others.
fn is_few(counts: Agreement) -> bool {
    counts.theirs() < FEW || counts.texts() - counts.theirs() < FEW
}

/// 0 of none is 0.
#[expect(clippy::cast_precision_loss, reason = "a share for people")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn not_counted(skipped: &Skipped) -> Option<String> {
    let mut parts = Vec::new();
    if skipped.no_text > 0 {
        parts.push(format!("{} without a text", skipped.no_text));
    }
    if skipped.invalid > 0 {
        parts.push(format!(
            "{} that are not as `gatehouse submit` takes them",
            skipped.invalid
        ));
    }
    for (place, refused) in [
        ("there", &skipped.refused_there),
        ("here", &skipped.refused_here),
    ] {
        for (code, count) in refused {
            parts.push(format!("{count} refused {place} ({code})"));
        }
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::thresholds::sample::Scores;

    /// Texts whose scores there and here are the same, from 0.01 on.
    fn sample(texts: u32) -> Sample {
        let mut sample = Sample::default();
        for text in 1..=texts {
            let score = f64::from(text) / 100.0;
            let theirs = ["hate", "hate/threatening"].map(|name| (name.to_owned(), score));
            sample.add(
                &Scores::from(theirs),
                &Scores::from([("hate".to_owned(), score / 2.0)]),
            );
        }
        sample
    }

    fn report(sample: &Sample, thresholds: &[(&str, f64)]) -> (Value, String) {
        let thresholds = thresholds
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value));
        let skipped = Skipped::default();
        let report = Report::new(
            ("OpenAI", "openai"),
            true,
            sample,
            &skipped,
            &thresholds.collect(),
            0.5,
        );
        (report.to_json(), report.to_text())
    }

    #[test]
    fn each_category_has_a_threshold_or_the_reason_why_not() {
        let (json, text) = report(&sample(100), &[("hat", 0.5)]);
        let [hate, threatening, hat] = json["categories"].as_array().unwrap().as_slice() else {
            panic!("{json}");
        };
        assert_eq!(hate["our_threshold"], 0.25);
        assert_eq!(hate["selected"]["both"], 51);
        assert_eq!(hate["share_of_theirs"], 1.0);
        assert_eq!(hate["few_texts"], false);
        assert_eq!(threatening["our_threshold"], Value::Null);
        assert_eq!(threatening["why"], "not_scored_here");
        assert_eq!(threatening["selected"]["theirs"], 51);
        assert_eq!(hat["why"], "not_scored_there");
        assert!(
            text.contains("hate/threatening: never scored here."),
            "{text}"
        );
        assert!(!text.contains("few texts"), "{text}");
    }

    #[test]
    fn a_figure_that_rests_on_few_texts_says_so() {
        for (threshold, is_few, note) in [
            (0.81, false, "have the scores"),
            (0.82, true, "Only 19 reach your threshold"),
            (0.21, false, "have the scores"),
            (0.20, true, "Only 19 are below your threshold"),
        ] {
            let (json, text) = report(&sample(100), &[("hate", threshold)]);
            assert_eq!(json["categories"][0]["few_texts"], is_few, "{threshold}");
            assert!(text.contains(note), "{threshold}: {text}");
        }
        let (json, text) = report(&sample(10), &[]);
        assert_eq!(json["categories"][0]["why"], "none_reaches");
        assert!(text.contains("none of 10 texts reaches"), "{text}");
    }
}
