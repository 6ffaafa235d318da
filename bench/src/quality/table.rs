//! The report for people. The calibration of each language is only in the JSON.

use super::figures::{Average, Calibrated, Figures, Measured, Rows, Share};
use crate::report::{Line, Report};

impl Report for Measured {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading("Quality of scores"),
            Line::fact("rows", self.rows.to_string()),
            Line::fact(
                "intervals",
                format!(
                    "of 95 %; of AUPRC from {} resamples with the seed {}",
                    self.resamples, self.seed
                ),
            ),
        ];
        for figures in &self.all {
            lines.push(Line::heading(figures.category.as_str()));
            lines.extend(summary(figures));
            lines.extend(calibration(figures));
        }
        for part in &self.by_language {
            let language = part.language.as_deref().unwrap_or("no language given");
            for figures in &part.figures {
                let category = figures.category.as_str();
                lines.push(Line::heading(format!("{language}: {category}")));
                lines.extend(summary(figures));
            }
        }
        lines
    }
}

/// Rows, average precision, and what the thresholds find.
fn summary(figures: &Figures) -> Vec<Line> {
    let mut lines = vec![Line::fact("rows scored", rows(figures.scored))];
    if figures.not_scored.rows > 0 {
        lines.push(Line::fact("rows not scored", rows(figures.not_scored)));
    }
    if figures.scored.rows == 0 {
        return lines;
    }
    let average = figures
        .auprc
        .as_ref()
        .map_or_else(|| "none, because no row is positive".to_owned(), average);
    lines.push(Line::fact("AUPRC", average));
    lines.extend(figures.thresholds.iter().map(|at| {
        Line::fact(
            format!("at {}", at.threshold),
            format!(
                "precision {}; recall {}",
                share(&at.precision),
                share(&at.recall)
            ),
        )
    }));
    lines
}

/// The bins that have rows, and the error.
fn calibration(figures: &Figures) -> Vec<Line> {
    let bins = figures.calibration.iter().filter_map(bin);
    let error = figures.expected_calibration_error;
    let error = error.map(|error| Line::fact("calibration error", format!("{error:.3}")));
    bins.chain(error).collect()
}

fn bin(bin: &Calibrated) -> Option<Line> {
    let (mean, positive) = (bin.mean_score?, bin.share_positive?);
    Some(Line::fact(
        format!("scores {} to {}", bin.from, bin.to),
        format!(
            "{:.0} % positive ({} of {}), mean score {mean:.3}",
            positive * 100.0,
            bin.positive,
            bin.rows
        ),
    ))
}

fn rows(rows: Rows) -> String {
    format!("{}, {} of them positive", rows.rows, rows.positive)
}

fn average(average: &Average) -> String {
    match (average.low, average.high) {
        (Some(low), Some(high)) => format!("{:.3} ({low:.3} to {high:.3})", average.value),
        _ => format!("{:.3}", average.value),
    }
}

/// A share with its counts and its interval, such as `80 %, 8 of 10 (49 to 94)`.
fn share(share: &Share) -> String {
    match (share.part, share.low, share.high) {
        (Some(part), Some(low), Some(high)) => format!(
            "{:.0} %, {} of {} ({:.0} to {:.0})",
            part * 100.0,
            share.count,
            share.of,
            low * 100.0,
            high * 100.0
        ),
        _ => "–".to_owned(),
    }
}
