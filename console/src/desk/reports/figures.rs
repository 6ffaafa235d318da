//! Figures as people read them.

use std::borrow::Borrow;

use domain::{
    id::{RuleGroupId, RuleId},
    precision_recall::Point,
    proportion::Proportion,
    review::Kappa,
};
use management::reviews::quality::{Curve, RuleCurves};

use crate::charts::CurveChart;

/// A rule with thresholds.
pub(super) struct Rule {
    pub(super) group: RuleGroupId,
    pub(super) group_name: String,
    pub(super) id: RuleId,
    pub(super) name: String,
    pub(super) category: &'static str,
    pub(super) review_at: Option<f64>,
    pub(super) reject_at: Option<f64>,
    pub(super) overall: Lines,
    pub(super) by_provider: Vec<(String, Lines)>,
}

/// A curve.
pub(super) struct Lines {
    pub(super) items: Proportion,
    pub(super) chart: CurveChart,
    pub(super) points: Vec<Point>,
}

impl Rule {
    pub(super) fn of(curves: &RuleCurves) -> Self {
        let rule = &curves.rule;
        let in_force: Vec<f64> = [rule.review_at, rule.reject_at]
            .into_iter()
            .flatten()
            .collect();
        Self {
            group: rule.group,
            group_name: rule.group_name.clone(),
            id: rule.rule,
            name: rule.name.clone(),
            category: rule.category.as_str(),
            review_at: rule.review_at,
            reject_at: rule.reject_at,
            overall: Lines::of(&curves.overall, &in_force),
            by_provider: curves
                .by_provider
                .iter()
                .map(|(provider, curve)| (provider.clone(), Lines::of(curve, &in_force)))
                .collect(),
        }
    }
}

impl Lines {
    fn of(curve: &Curve, in_force: &[f64]) -> Self {
        let mut points = curve.steps.clone();
        let own = [curve.review, curve.reject].into_iter().flatten();
        points.extend(own);
        points.sort_by(|one, other| one.threshold.total_cmp(&other.threshold));
        points.dedup_by(|one, other| one.threshold.total_cmp(&other.threshold).is_eq());
        Self {
            items: curve.items,
            chart: CurveChart::new(&points, in_force),
            points,
        }
    }
}

/// A share with its interval, such as `71 % (56 to 81)`.
pub(super) fn percent(of: impl Borrow<Proportion>) -> String {
    let of = of.borrow();
    match (of.share(), of.wilson()) {
        (Some(share), Some(interval)) => format!(
            "{:.0} % ({:.0} to {:.0})",
            share * 100.0,
            interval.low * 100.0,
            interval.high * 100.0
        ),
        _ => "–".to_owned(),
    }
}

/// A time in seconds, in one unit.
pub(super) fn seconds(seconds: impl Borrow<Option<f64>>) -> String {
    match *seconds.borrow() {
        None => "–".to_owned(),
        Some(seconds) if seconds < 120.0 => format!("{seconds:.0} s"),
        Some(seconds) if seconds < 7_200.0 => format!("{:.0} min", seconds / 60.0),
        Some(seconds) if seconds < 172_800.0 => format!("{:.1} h", seconds / 3_600.0),
        Some(seconds) => format!("{:.1} d", seconds / 86_400.0),
    }
}

/// Kappa with its interval.
pub(super) fn kappa(kappa: impl Borrow<Option<Kappa>>) -> String {
    kappa.borrow().map_or_else(
        || "–".to_owned(),
        |kappa| {
            let interval = kappa.interval;
            format!(
                "{:.2} ({:.2} to {:.2})",
                kappa.value, interval.low, interval.high
            )
        },
    )
}
