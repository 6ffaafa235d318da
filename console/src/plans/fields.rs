//! The limits of a plan as fields of a form.

use std::str::FromStr;

use domain::plan::{Limits, PerTeam};
use management::{FieldProblem, Refused, plans::Terms};

use crate::form::Form;

/// A limit as a field.
pub(crate) struct Field {
    /// The member of the management interface.
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    /// What is counted, and in which time.
    pub(crate) hint: &'static str,
    /// Whether it may be empty.
    pub(crate) is_optional: bool,
    /// What is in it.
    pub(crate) value: String,
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
pub(crate) fn of(terms: &Terms) -> Vec<Field> {
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

/// The fields as they were sent.
pub(crate) fn sent(form: &Form) -> Vec<Field> {
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

/// The names of all fields of the form, for [`crate::problems::Problems::besides`].
pub(crate) fn names() -> Vec<&'static str> {
    let names = FIELDS.iter().map(|(name, ..)| *name);
    std::iter::once("name").chain(names).collect()
}

/// Reads the form.
///
/// # Errors
/// Everything that is wrong with it.
pub(crate) fn read(form: &Form) -> Result<Terms, Refused> {
    let mut wrong = Reader {
        form,
        problems: Vec::new(),
    };
    let name = wrong.needed("name");
    let submissions_per_period = wrong.optional("submissions_per_period");
    let deliveries_per_period = wrong.optional("deliveries_per_period");
    let submissions_per_minute = wrong.needed("submissions_per_minute");
    let status_queries_per_minute = wrong.needed("status_queries_per_minute");
    let team_submissions_per_minute = wrong.optional("team_submissions_per_minute");
    let team_status_queries_per_minute = wrong.optional("team_status_queries_per_minute");
    let endpoints_per_site = wrong.needed("endpoints_per_site");
    let sites_per_team: Option<PerTeam> = wrong.needed("sites_per_team");
    let site_keys_per_team = wrong.needed("site_keys_per_team");
    let management_tokens_per_team = wrong.needed("management_tokens_per_team");
    let rule_groups_per_team = wrong.needed("rule_groups_per_team");
    let hash_lists_per_team = wrong.needed("hash_lists_per_team");
    if !wrong.problems.is_empty() {
        return Err(Refused::fields(wrong.problems));
    }
    let terms = || {
        Some(Terms {
            name: name?,
            submissions_per_period,
            deliveries_per_period,
            submissions_per_minute: submissions_per_minute?,
            status_queries_per_minute: status_queries_per_minute?,
            team_submissions_per_minute,
            team_status_queries_per_minute,
            limits: Limits {
                endpoints_per_site: endpoints_per_site?,
                sites_per_team: sites_per_team?,
                site_keys_per_team: site_keys_per_team?,
                management_tokens_per_team: management_tokens_per_team?,
                rule_groups_per_team: rule_groups_per_team?,
                hash_lists_per_team: hash_lists_per_team?,
            },
        })
    };
    // Whatever is missing was added to the problems.
    terms().ok_or(Refused::Internal)
}

/// Reads fields and notes what is wrong with them.
struct Reader<'a> {
    form: &'a Form,
    problems: Vec<FieldProblem>,
}

impl Reader<'_> {
    fn needed<T: FromStr<Err: std::fmt::Display>>(&mut self, name: &str) -> Option<T> {
        let typed = self.form.get(name).trim();
        typed
            .parse()
            .map_err(|wrong: T::Err| {
                self.problems.push(FieldProblem {
                    field: name.to_owned(),
                    message: wrong.to_string(),
                    position: None,
                });
            })
            .ok()
    }

    fn optional<T: FromStr<Err: std::fmt::Display>>(&mut self, name: &str) -> Option<T> {
        if self.form.get(name).trim().is_empty() {
            return None;
        }
        self.needed(name)
    }
}
