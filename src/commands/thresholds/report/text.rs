//! The report for people: a table, and what to know about it.

use std::fmt::Write as _;

use super::{FEW, Outcome, Report, Row, is_few, share};
use crate::commands::thresholds::sample::Skipped;

impl Report<'_> {
    pub(in crate::commands::thresholds) fn to_text(&self) -> String {
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
        let matched: Vec<_> = self.rows.iter().filter_map(Row::cells).collect();
        if !matched.is_empty() {
            text.push('\n');
            table(&mut text, matched);
            let _ = write!(
                text,
                "\nyours: your threshold at {}. here: the threshold here that selects as many texts.\n\
                 texts: texts with a score of both. selected there, here: those from the threshold on.\n\
                 of theirs: the share of the texts selected there that is selected here, too. of ours: the reverse.\n",
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

impl Row {
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

fn table(text: &mut String, rows: Vec<[String; 10]>) {
    let head = [
        "category",
        "yours",
        "here",
        "texts",
        "selected there, here",
        "both",
        "only there",
        "only here",
        "of theirs",
        "of ours",
    ]
    .map(str::to_owned);
    let lines: Vec<_> = std::iter::once(head).chain(rows).collect();
    let widths: [usize; 10] = std::array::from_fn(|column| {
        let widths = lines.iter().map(|line| line[column].chars().count());
        widths.max().unwrap_or_default()
    });
    for line in lines {
        let _ = write!(text, "{:<1$}", line[0], widths[0]);
        for (cell, width) in line.iter().zip(widths).skip(1) {
            let _ = write!(text, "  {cell:>width$}");
        }
        text.push('\n');
    }
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
