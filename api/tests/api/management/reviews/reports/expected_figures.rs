//! The figures of an hour, calculated from its script, with other formulas than those of the code.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Timelike as _, Utc};
use serde_json::{Map, Value, json};

use super::simulated_hour::{Hour, Item, Said, highest};

/// The quantile of the normal distribution for 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// What was played, of one site or of both.
pub(super) struct Expected<'a> {
    hour: &'a Hour<'a>,
    site: Option<usize>,
    said: Vec<&'a Said>,
}

impl<'a> Expected<'a> {
    pub(super) fn of(hour: &'a Hour<'a>, site: Option<usize>) -> Self {
        let said = hour.said.iter();
        Self {
            hour,
            site,
            said: said
                .filter(|said| site.is_none_or(|site| said.site == site))
                .collect(),
        }
    }

    /// All members of the answer.
    pub(super) fn report(&self) -> Value {
        let decisions = |severity: Option<&str>| {
            let of: Vec<&Said> = self
                .said
                .iter()
                .copied()
                .filter(|said| is_decision(said))
                .collect();
            let of = of.into_iter();
            speed(
                &of.filter(|said| severity.is_none_or(|name| said.severity == name))
                    .collect::<Vec<_>>(),
            )
        };
        let severities: Vec<Value> = ["critical", "high", "normal", "low"]
            .into_iter()
            .map(|severity| json!({ "severity": severity, "time_to_decision": decisions(Some(severity)) }))
            .filter(|part| part["time_to_decision"]["in_time"]["of"] != 0)
            .collect();
        let golden = self.said.iter().filter(|said| said.why == "golden");
        json!({
            "site_id": self.site.map(|site| self.hour.sites[site]),
            "from": "2026-01-15T00:00:00.000000Z",
            "to": "2026-01-16T00:00:00.000000Z",
            "counted": self.said.len(),
            "is_complete": true,
            "waiting": self.waiting(),
            "time_to_decision": decisions(None),
            "time_to_decision_by_severity": severities,
            "people": self.people(),
            "agreement": agreement(&self.said),
            "agreement_by_policy": self.by_policy("agreement", |said| {
                said.iter().any(|said| is_second(said)).then(|| agreement(said))
            }),
            "overturned": self.overturned(&self.said),
            "overturned_by_policy": self.by_policy("overturned", |said| {
                let overturned = self.overturned(said);
                (overturned["total"]["of"] != 0).then_some(overturned)
            }),
            "golden": count(golden, |said| Some(said.rejects) == said.other),
            "machine": self.machine(),
        })
    }

    /// By policy in the order of the codes: hate, spam, threats, none.
    fn by_policy(&self, member: &str, figures: impl Fn(&[&'a Said]) -> Option<Value>) -> Value {
        let mut parts = Vec::new();
        for policy in [Some(1), Some(0), Some(2), None] {
            let said = self.said.iter().copied();
            let said: Vec<&Said> = said
                .filter(|said| said.policy == policy && said.why != "golden")
                .collect();
            if let Some(figures) = figures(&said) {
                let mut part = Map::new();
                part.insert("policy".to_owned(), self.policy(policy));
                part.insert(member.to_owned(), figures);
                parts.push(Value::Object(part));
            }
        }
        parts.into()
    }

    fn policy(&self, policy: Option<usize>) -> Value {
        policy.map_or(Value::Null, |policy| {
            let (id, code, _) = self.hour.policies[policy];
            json!({ "id": id, "code": code, "name": code })
        })
    }

    fn waiting(&self) -> Value {
        let waiting: Vec<(&Item, DateTime<Utc>, bool)> = self
            .hour
            .waiting
            .iter()
            .map(|(item, since, is_overdue)| (&self.hour.items[*item], *since, *is_overdue))
            .filter(|(item, ..)| self.site.is_none_or(|site| item.site == site))
            .collect();
        let backlog = |of: &dyn Fn(&Item) -> bool| {
            let of: Vec<_> = waiting.iter().filter(|(item, ..)| of(item)).collect();
            let oldest = of.iter().map(|(_, since, _)| *since).min()?;
            Some(json!({
                "reviews": of.len(),
                "overdue": of.iter().filter(|(.., is_overdue)| *is_overdue).count(),
                "oldest_waiting_since": oldest.format("%FT%T%.6fZ").to_string(),
            }))
        };
        let by_site: Vec<Value> = [0, 1]
            .into_iter()
            .filter_map(|site| {
                let backlog = backlog(&|item| item.site == site)?;
                let name = ["Forum", "=Market, \"the best\""][site];
                Some(json!({ "site_id": self.hour.sites[site], "site_name": name, "backlog": backlog }))
            })
            .collect();
        let by_policy: Vec<Value> = [Some(1), Some(0), Some(2), None]
            .into_iter()
            .filter_map(|policy| {
                let backlog = backlog(&|item| item.policy == policy)?;
                Some(json!({ "policy": self.policy(policy), "backlog": backlog }))
            })
            .collect();
        json!({ "by_site": by_site, "by_policy": by_policy, "is_complete": true })
    }

    fn people(&self) -> Value {
        let mut people: Vec<Value> = Vec::new();
        for (person, (_, id)) in self.hour.people.iter().enumerate() {
            let own: Vec<&Said> = self
                .said
                .iter()
                .copied()
                .filter(|said| said.person == person)
                .collect();
            let mut hours = [0; 24];
            for said in &own {
                hours[said.at.hour() as usize] += 1;
            }
            let rejected = own.iter().filter(|said| said.rejects).count();
            let golden = own.iter().filter(|said| said.why == "golden");
            people.push(json!({
                "id": id,
                "name": "test",
                "decisions": own.len(),
                "approved": own.len() - rejected,
                "rejected": rejected,
                "hours": hours,
                "golden": count(golden, |said| Some(said.rejects) == said.other),
            }));
        }
        people.retain(|person| person["decisions"] != 0);
        people.sort_by_key(|person| std::cmp::Reverse(person["decisions"].as_u64()));
        people.into()
    }

    fn overturned(&self, said: &[&Said]) -> Value {
        let audits: Vec<&&Said> = said
            .iter()
            .filter(|said| {
                said.why == "audit lead" || said.why == "audit" && Some(said.rejects) == said.other
            })
            .collect();
        let appeals: Vec<&&Said> = said.iter().filter(|said| said.why == "appeal").collect();
        let changed = |said: &&&Said| Some(said.rejects) != said.other;
        // What was told last was overturned on the item's page.
        let elsewhere = said.iter().filter(|said| {
            is_new_verdict(said)
                && self.hour.items[said.item].overturned_elsewhere
                && !self.hour.said.iter().chain(&self.hour.late).any(|other| {
                    other.item == said.item && is_new_verdict(other) && other.at > said.at
                })
        });
        let elsewhere = elsewhere.count();
        let (audit_changes, appeal_changes) = (
            audits.iter().filter(|said| changed(said)).count(),
            appeals.iter().filter(|said| changed(said)).count(),
        );
        json!({
            "total": share(audit_changes + appeal_changes + elsewhere, audits.len() + appeals.len() + elsewhere),
            "audits": share(audit_changes, audits.len()),
            "appeals": share(appeal_changes, appeals.len()),
            "elsewhere": share(elsewhere, elsewhere),
        })
    }

    /// The items about which something was told in the span.
    fn told(&self) -> Vec<&Item> {
        let told = self
            .said
            .iter()
            .filter(|said| is_new_verdict(said))
            .map(|said| said.item);
        let told: BTreeSet<usize> = told.collect();
        told.into_iter()
            .map(|item| &self.hour.items[item])
            .collect()
    }

    fn machine(&self) -> Value {
        let told = self.told();
        let thresholds: Vec<Value> = [0, 1]
            .into_iter()
            .map(|site| {
                let items: Vec<&Item> = told.iter().copied().filter(|item| item.site == site).collect();
                let review_at = [0.4, 0.37][site];
                let by_provider: Vec<Value> = [("openai", 1), ("own", 0)]
                    .into_iter()
                    .filter(|(_, place)| items.iter().any(|item| item.scores[*place].is_some()))
                    .map(|(name, place)| json!({ "provider": name, "curve": curve(&items, |item| item.scores[place], review_at) }))
                    .collect();
                json!({
                    "rule_group_id": self.hour.groups[site],
                    "rule_group_name": (["Forum", "=Market, \"the best\""][site]),
                    "rule_id": self.hour.threshold_rules[site],
                    "rule_name": "hateful",
                    "category": "hate",
                    "review_at": review_at,
                    "reject_at": 0.9,
                    "overall": curve(&items, highest, review_at),
                    "by_provider": by_provider,
                })
            })
            .collect();
        let mut matches: Vec<Value> = Vec::new();
        for (rule, (id, name, kind)) in self.hour.rules.iter().enumerate() {
            let hits: Vec<&&Item> = told
                .iter()
                .filter(|item| item.rules.contains(&rule))
                .collect();
            let rejected = hits
                .iter()
                .filter(|item| item.rejected == Some(true))
                .count();
            matches.push(json!({
                "rule_id": id,
                "rule_name": name,
                "rule_type": kind,
                "rejected": share(rejected, hits.len()),
            }));
        }
        matches.sort_by_key(|rule| {
            (
                std::cmp::Reverse(rule["rejected"]["of"].as_u64()),
                rule["rule_id"].to_string(),
            )
        });
        json!({
            "items": told.len(),
            "is_complete": true,
            "groups_left_out": 0,
            "thresholds": thresholds,
            "matches": matches,
        })
    }
}

/// Whether it ended a review that was waited for.
fn is_decision(said: &Said) -> bool {
    said.is_told && matches!(said.why, "only" | "second" | "lead" | "appeal")
}

/// Whether it became the item's verdict.
fn is_new_verdict(said: &Said) -> bool {
    match said.why {
        "only" | "second" | "lead" => said.is_told,
        "audit lead" | "appeal" => Some(said.rejects) != said.other,
        _ => false,
    }
}

/// Whether somebody had said something before whom this person knew nothing of.
fn is_second(said: &Said) -> bool {
    matches!(said.why, "second" | "audit")
}

fn count<'a>(said: impl Iterator<Item = &'a &'a Said>, is_hit: impl Fn(&Said) -> bool) -> Value {
    let all: Vec<bool> = said.map(|said| is_hit(said)).collect();
    share(all.iter().filter(|hit| **hit).count(), all.len())
}

/// A share with its Wilson interval: the two shares p from which the one that was seen is 1.96 standard errors away.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn share(hits: usize, of: usize) -> Value {
    if of == 0 {
        return json!({ "count": 0, "of": 0, "share": null, "low": null, "high": null });
    }
    let (seen, n) = (hits as f64 / of as f64, of as f64);
    // (seen - p)² = Z² p (1 - p) / n
    let (a, b, c) = (n + Z * Z, -(2.0 * n * seen + Z * Z), n * seen * seen);
    let root = (b * b - 4.0 * a * c).max(0.0).sqrt();
    json!({
        "count": hits,
        "of": of,
        "share": seen,
        "low": (-b - root) / (2.0 * a),
        "high": (-b + root) / (2.0 * a),
    })
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn speed(decisions: &[&Said]) -> Value {
    let mut waited: Vec<i64> = decisions.iter().map(|said| said.waited_ms).collect();
    waited.sort_unstable();
    // The first value that so many do not exceed.
    let quantile = |percent: usize| {
        let mut found = waited.iter().enumerate();
        found
            .find(|(before, _)| (before + 1) * 100 >= percent * waited.len())
            .map(|(_, waited)| *waited as f64 / 1_000.0)
    };
    json!({
        "p50_seconds": quantile(50),
        "p90_seconds": quantile(90),
        "p99_seconds": quantile(99),
        "in_time": count(decisions.iter(), |said| said.waited_ms <= said.allowed_ms),
    })
}

/// Kappa of the shares of four cells.
fn kappa(cells: [f64; 4]) -> f64 {
    let all: f64 = cells.iter().sum();
    let [a, b, c, d] = cells.map(|cell| cell / all);
    2.0 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn agreement(said: &[&Said]) -> Value {
    let pairs: Vec<&&Said> = said.iter().filter(|said| is_second(said)).collect();
    let mut cells = [0_usize; 4];
    for said in &pairs {
        cells[usize::from(said.other.unwrap()) * 2 + usize::from(said.rejects)] += 1;
    }
    let audits = pairs.iter().filter(|said| said.why == "audit").count();
    let n = pairs.len() as f64;
    let cells = cells.map(|cell| cell as f64);
    let value = kappa(cells);
    let mut answer = json!({
        "two_people": pairs.len() - audits,
        "audits": audits,
        "agreed": count(pairs.iter().copied(), |said| Some(said.rejects) == said.other),
        "kappa": null,
        "kappa_low": null,
        "kappa_high": null,
    });
    if value.is_finite() {
        // The delta method, with slopes that are measured.
        let shares = cells.map(|cell| cell / n);
        let slope = |cell: usize| {
            let (mut up, mut down) = (shares, shares);
            up[cell] += 1e-6;
            down[cell] -= 1e-6;
            (kappa(up) - kappa(down)) / 2e-6
        };
        let slopes = [0, 1, 2, 3].map(slope);
        let mean: f64 = (0..4).map(|cell| shares[cell] * slopes[cell]).sum();
        let square: f64 = (0..4).map(|cell| shares[cell] * slopes[cell].powi(2)).sum();
        let half = Z * ((square - mean * mean).max(0.0) / n).sqrt();
        answer["kappa"] = value.into();
        answer["kappa_low"] = (value - half).max(-1.0).into();
        answer["kappa_high"] = (value + half).min(1.0).into();
    }
    answer
}

fn curve(items: &[&Item], score: impl Fn(&Item) -> Option<f64>, review_at: f64) -> Value {
    let scored: Vec<(f64, bool)> = items
        .iter()
        .filter_map(|item| Some((score(item)?, item.rejected == Some(true))))
        .collect();
    let positives = scored.iter().filter(|(_, rejected)| *rejected).count();
    let point = |threshold: f64| {
        let found: Vec<_> = scored
            .iter()
            .filter(|(score, _)| *score >= threshold)
            .collect();
        let right = found.iter().filter(|(_, rejected)| *rejected).count();
        json!({
            "threshold": threshold,
            "precision": share(right, found.len()),
            "recall": share(right, positives),
        })
    };
    let points: BTreeMap<u32, Value> = (1..20_u32)
        .map(|step| (step, point(f64::from(step) * 5.0 / 100.0)))
        .collect();
    json!({
        "rejected": share(positives, scored.len()),
        "points": points.into_values().collect::<Vec<_>>(),
        "review": point(review_at),
        "reject": point(0.9),
    })
}
