//! The limits of a plan as fields of a form.

use std::{fmt::Display, str::FromStr};

use domain::plan::Limits;
use management::plans::Terms;

use crate::page::{Form, Problems};

pub(super) struct Field {
    /// The member of the management interface.
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    /// What is counted, and in which time.
    pub(super) hint: &'static str,
    /// Whether it may be empty.
    pub(super) is_optional: bool,
    pub(super) value: String,
}

/// Names, labels, what they count, and whether they may be empty.
const FIELDS: [(&str, &str, &str, bool); 12] = [
    (
        "submissions_per_period",
        "Submissions",
        "of a team in a billing period. Empty: no limit.",
        true,
    ),
    (
        "deliveries_per_period",
        "Webhooks",
        "that a team's submissions cause in a billing period. Empty: no limit.",
        true,
    ),
    (
        "submissions_per_minute",
        "Submissions of a key",
        "in each UTC minute, 1 to 1,000,000.",
        false,
    ),
    (
        "status_queries_per_minute",
        "Status queries of a key",
        "in each UTC minute, 1 to 1,000,000.",
        false,
    ),
    (
        "team_submissions_per_minute",
        "Submissions of a team",
        "in each UTC minute, all keys together. Empty: ten times that of a key.",
        true,
    ),
    (
        "team_status_queries_per_minute",
        "Status queries of a team",
        "in each UTC minute, all keys together. Empty: ten times that of a key.",
        true,
    ),
    (
        "endpoints_per_site",
        "Webhook endpoints",
        "of each site, 0 to 100.",
        false,
    ),
    ("sites_per_team", "Sites", "of a team, 0 to 100,000.", false),
    (
        "site_keys_per_team",
        "Site keys",
        "of a team that are not disabled.",
        false,
    ),
    (
        "management_tokens_per_team",
        "Management tokens",
        "of a team that are neither disabled nor expired.",
        false,
    ),
    ("rule_groups_per_team", "Rule groups", "of a team.", false),
    (
        "hash_lists_per_team",
        "Hash lists",
        "of a team, 0 to 1,000.",
        false,
    ),
];

/// The fields, filled with these terms.
pub(super) fn of(terms: &Terms) -> Vec<Field> {
    let limits = &terms.limits;
    let values = [
        terms.submissions_per_period.map(i64::from),
        terms.deliveries_per_period.map(i64::from),
        Some(terms.submissions_per_minute.get()),
        Some(terms.status_queries_per_minute.get()),
        terms.team_submissions_per_minute.map(i64::from),
        terms.team_status_queries_per_minute.map(i64::from),
        Some(limits.endpoints_per_site.get()),
        Some(limits.sites_per_team.get()),
        Some(limits.site_keys_per_team.get()),
        Some(limits.management_tokens_per_team.get()),
        Some(limits.rule_groups_per_team.get()),
        Some(limits.hash_lists_per_team.get()),
    ];
    let texts = values.map(|value| value.map_or_else(String::new, |value| value.to_string()));
    fields(texts)
}

pub(super) fn sent(form: &Form) -> Vec<Field> {
    fields(FIELDS.map(|(name, ..)| form.get(name).to_owned()))
}

fn fields(values: [String; FIELDS.len()]) -> Vec<Field> {
    let fields = FIELDS.into_iter().zip(values);
    fields
        .map(|((name, label, hint, is_optional), value)| Field {
            name,
            label,
            hint,
            is_optional,
            value,
        })
        .collect()
}

/// The names of all fields of the form, for [`Problems::besides`].
pub(super) fn names() -> Vec<&'static str> {
    let names = FIELDS.iter().map(|(name, ..)| *name);
    std::iter::once("name").chain(names).collect()
}

/// Reads the form. `Err`: everything that is wrong with it.
pub(super) fn read(form: &Form) -> Result<Terms, Problems> {
    let mut problems = Problems::default();
    let wrong = &mut problems;
    let terms = (|| {
        let name = needed(wrong, form, "name");
        let submissions_per_period = optional(wrong, form, "submissions_per_period");
        let deliveries_per_period = optional(wrong, form, "deliveries_per_period");
        let submissions_per_minute = needed(wrong, form, "submissions_per_minute");
        let status_queries_per_minute = needed(wrong, form, "status_queries_per_minute");
        let team_submissions = optional(wrong, form, "team_submissions_per_minute");
        let team_status_queries = optional(wrong, form, "team_status_queries_per_minute");
        let endpoints_per_site = needed(wrong, form, "endpoints_per_site");
        let sites_per_team = needed(wrong, form, "sites_per_team");
        let site_keys_per_team = needed(wrong, form, "site_keys_per_team");
        let management_tokens_per_team = needed(wrong, form, "management_tokens_per_team");
        let rule_groups_per_team = needed(wrong, form, "rule_groups_per_team");
        let hash_lists_per_team = needed(wrong, form, "hash_lists_per_team");
        Some(Terms {
            name: name?,
            submissions_per_period,
            deliveries_per_period,
            submissions_per_minute: submissions_per_minute?,
            status_queries_per_minute: status_queries_per_minute?,
            team_submissions_per_minute: team_submissions,
            team_status_queries_per_minute: team_status_queries,
            limits: Limits {
                endpoints_per_site: endpoints_per_site?,
                sites_per_team: sites_per_team?,
                site_keys_per_team: site_keys_per_team?,
                management_tokens_per_team: management_tokens_per_team?,
                rule_groups_per_team: rule_groups_per_team?,
                hash_lists_per_team: hash_lists_per_team?,
            },
        })
    })();
    match terms {
        Some(terms) if problems.are_none() => Ok(terms),
        _ => Err(problems),
    }
}

fn needed<T: FromStr<Err: Display>>(wrong: &mut Problems, form: &Form, name: &str) -> Option<T> {
    wrong.kept(name, form.get(name).trim().parse())
}

fn optional<T: FromStr<Err: Display>>(wrong: &mut Problems, form: &Form, name: &str) -> Option<T> {
    if form.get(name).trim().is_empty() {
        return None;
    }
    needed(wrong, form, name)
}
