//! The reports as CSV (RFC 4180), one figure a line, for spreadsheets.

use std::fmt::{Display, Write as _};

use domain::{
    precision_recall::Point,
    proportion::{Interval, Proportion},
    review::Kappa,
};

use super::{Agreement, ByPolicy, Curve, Overturned, Quality, RuleCurves, Speed};

/// What the columns are.
const HEAD: &str = "report,id,name,part,threshold,figure,value\r\n";

/// The reports as CSV. The columns: the report; the id and the name of what the figure is about (site, policy, person, rule); the
/// part of it (severity, provider, hour); the threshold; the name of the figure; and its value. A value that does not exist is
/// empty.
pub fn csv(quality: &Quality) -> String {
    let mut table = Table(HEAD.to_owned());
    about(&mut table, quality);
    waiting(&mut table, quality);
    let tally = &quality.tally;
    table.speed(Line::of("time_to_decision"), &tally.speed);
    for (severity, speed) in &tally.speed_by_severity {
        let line = Line::of("time_to_decision").part(severity.as_str());
        table.speed(line, speed);
    }
    people(&mut table, quality);
    table.agreement(Line::of("agreement"), &tally.agreement);
    for part in &tally.agreement_by_policy {
        let (id, code) = policy(part);
        table.agreement(
            Line::of("agreement_by_policy").about(&id, &code),
            &part.figures,
        );
    }
    table.overturned(Line::of("overturned"), tally.overturned);
    for part in &tally.overturned_by_policy {
        let (id, code) = policy(part);
        table.overturned(
            Line::of("overturned_by_policy").about(&id, &code),
            part.figures,
        );
    }
    table.share(Line::of("golden"), "right", tally.golden);
    machine(&mut table, quality);
    table.0
}

fn about(table: &mut Table, quality: &Quality) {
    let line = Line::of("report");
    let site = quality.site.map(|site| site.to_string());
    table.text(line, "site_id", &site.unwrap_or_default());
    table.text(line, "from", &quality.from.to_rfc3339());
    table.text(line, "to", &quality.to.to_rfc3339());
    table.count(line, "counted", quality.counted);
    table.text(line, "is_complete", &quality.is_complete.to_string());
}

fn waiting(table: &mut Table, quality: &Quality) {
    let waiting = &quality.waiting;
    let sites = waiting.by_site.iter().map(|(site, backlog)| {
        let id = site.id.to_string();
        (
            "waiting_by_site",
            id,
            site.name.clone().unwrap_or_default(),
            backlog,
        )
    });
    let policies = waiting.by_policy.iter().map(|part| {
        let (id, code) = policy(part);
        ("waiting_by_policy", id, code, &part.figures)
    });
    for (report, id, name, backlog) in sites.chain(policies) {
        let line = Line::of(report).about(&id, &name);
        table.count(line, "reviews", backlog.reviews);
        table.count(line, "overdue", backlog.overdue);
        table.text(line, "oldest_waiting_since", &backlog.oldest.to_rfc3339());
    }
}

fn people(table: &mut Table, quality: &Quality) {
    for person in &quality.tally.people {
        let id = person.who.id.to_string();
        let name = person.who.name.clone().unwrap_or_default();
        let line = Line::of("people").about(&id, &name);
        table.count(line, "decisions", person.decisions());
        table.count(line, "approved", person.approved);
        table.count(line, "rejected", person.rejected);
        for (hour, decisions) in person.hours.iter().enumerate() {
            let hour = hour.to_string();
            table.count(line.part(&hour), "decisions_in_hour", decisions);
        }
        table.share(line, "golden_right", person.golden);
    }
}

fn machine(table: &mut Table, quality: &Quality) {
    let machine = &quality.machine;
    let line = Line::of("machine");
    table.count(line, "items", machine.items);
    table.text(line, "is_complete", &machine.is_complete.to_string());
    table.count(line, "groups_left_out", machine.left_out);
    for RuleCurves {
        rule,
        overall,
        by_provider,
    } in &machine.rules
    {
        let id = rule.rule.to_string();
        let line = Line::of("thresholds").about(&id, &rule.name);
        table.text(line, "category", rule.category.as_str());
        table.number(line, "review_at", rule.review_at);
        table.number(line, "reject_at", rule.reject_at);
        table.curve(line, overall);
        for (provider, curve) in by_provider {
            table.curve(line.part(provider), curve);
        }
    }
    for matched in &machine.matched {
        let id = matched.rule.rule.to_string();
        let line = Line::of("matches").about(&id, &matched.rule.name);
        table.share(line, "rejected", matched.agreed);
    }
}

/// The id and the code of a policy; empty without one.
fn policy<T>(part: &ByPolicy<T>) -> (String, String) {
    let policy = part.policy.as_ref();
    policy.map_or_else(Default::default, |policy| {
        (policy.id.to_string(), policy.code.clone())
    })
}

/// What a figure is about.
#[derive(Clone, Copy, Default)]
struct Line<'a> {
    report: &'static str,
    id: &'a str,
    name: &'a str,
    part: &'a str,
    threshold: Option<f64>,
}

impl<'a> Line<'a> {
    fn of(report: &'static str) -> Self {
        Self {
            report,
            ..Self::default()
        }
    }

    fn about(self, id: &'a str, name: &'a str) -> Self {
        Self { id, name, ..self }
    }

    fn part<'b>(self, part: &'b str) -> Line<'b>
    where
        'a: 'b,
    {
        Line { part, ..self }
    }
}

/// The lines so far.
struct Table(String);

impl Table {
    /// A line. The value was written by us, or is a cell already.
    fn line(&mut self, line: Line<'_>, figure: &str, value: &str) {
        let threshold = line.threshold.map(|at| at.to_string()).unwrap_or_default();
        let (id, name, part) = (line.id, cell(line.name), cell(line.part));
        let report = line.report;
        // Writing to a text cannot fail.
        let _ = write!(
            self.0,
            "{report},{id},{name},{part},{threshold},{figure},{value}\r\n"
        );
    }

    fn text(&mut self, line: Line<'_>, figure: &str, value: &str) {
        self.line(line, figure, &cell(value));
    }

    fn count(&mut self, line: Line<'_>, figure: &str, value: impl Display + Copy) {
        self.line(line, figure, &value.to_string());
    }

    fn number(&mut self, line: Line<'_>, figure: &str, value: Option<f64>) {
        let value = value.map(|value| value.to_string()).unwrap_or_default();
        self.line(line, figure, &value);
    }

    /// How many, of how many, the share, and its interval.
    fn share(&mut self, line: Line<'_>, figure: &str, of: Proportion) {
        self.count(line, figure, of.hits);
        self.count(line, &format!("{figure}_of"), of.of);
        self.number(line, &format!("{figure}_share"), of.share());
        self.interval(line, figure, of.wilson());
    }

    fn interval(&mut self, line: Line<'_>, figure: &str, interval: Option<Interval>) {
        let (low, high) = (format!("{figure}_low"), format!("{figure}_high"));
        self.number(line, &low, interval.map(|interval| interval.low));
        self.number(line, &high, interval.map(|interval| interval.high));
    }

    fn speed(&mut self, line: Line<'_>, speed: &Speed) {
        self.number(line, "p50_seconds", speed.p50);
        self.number(line, "p90_seconds", speed.p90);
        self.number(line, "p99_seconds", speed.p99);
        self.share(line, "in_time", speed.in_time);
    }

    fn agreement(&mut self, line: Line<'_>, agreement: &Agreement) {
        self.count(line, "two_people", agreement.two_people);
        self.count(line, "audits", agreement.audits);
        self.share(line, "agreed", agreement.pairs.agreed());
        let kappa: Option<Kappa> = agreement.pairs.kappa();
        self.number(line, "kappa", kappa.map(|kappa| kappa.value));
        self.interval(line, "kappa", kappa.map(|kappa| kappa.interval));
    }

    fn overturned(&mut self, line: Line<'_>, overturned: Overturned) {
        self.share(line, "overturned", overturned.total());
        self.share(line, "audits", overturned.audits);
        self.share(line, "appeals", overturned.appeals);
        self.share(line, "elsewhere", overturned.elsewhere);
    }

    fn curve(&mut self, line: Line<'_>, curve: &Curve) {
        self.share(line, "rejected", curve.items);
        let own = [&curve.review, &curve.reject].into_iter().flatten();
        let own = own.filter(|point| {
            let mut steps = curve.steps.iter();
            steps.all(|step| step.threshold.total_cmp(&point.threshold).is_ne())
        });
        for point in curve.steps.iter().chain(own) {
            self.point(line, point);
        }
    }

    fn point(&mut self, line: Line<'_>, point: &Point) {
        let line = Line {
            threshold: Some(point.threshold),
            ..line
        };
        self.share(line, "precision", point.precision);
        self.share(line, "recall", point.recall);
    }
}

/// A text as a cell. A spreadsheet takes a text that begins with one of these characters for a formula, so it gets a `'` in
/// front. Numbers are written by us, and may begin with `-`.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let text = if is_formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains(['"', ',', '\r', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_quoted_where_needed_and_never_a_formula() {
        for (text, expected) in [
            ("", ""),
            ("Forum", "Forum"),
            ("a, b", "\"a, b\""),
            ("say \"a\"", "\"say \"\"a\"\"\""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("=HYPERLINK(\"x\",1)", "\"'=HYPERLINK(\"\"x\"\",1)\""),
            ("a\nb", "\"a\nb\""),
        ] {
            assert_eq!(cell(text), expected);
        }
    }
}
