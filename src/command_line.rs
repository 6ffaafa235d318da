//! The command line as a caller of `management`: what a command gives to use cases, and how it shows
//! refusals.

use std::sync::Arc;

use anyhow::anyhow;
use domain::rules::Limits;
use management::{
    EndpointChecks, FieldProblem, Management, Passwords, PreviewPool, RateLimit, RateLimitSettings,
    Refused, TrialPool, exports::ConcurrentReads,
};
use queue::Queue;
use store::{PgPool, encryption::MasterKey};
use workers::outbound::EgressPolicy;

use crate::config;

/// What a command gives to its use case.
#[derive(Debug, Default)]
pub(crate) struct Means {
    /// Seals secrets.
    pub(crate) master_key: Option<MasterKey>,
    /// Which webhook endpoints are permitted.
    pub(crate) egress: EgressPolicy,
    /// How much a rule group can cost.
    pub(crate) rules: Limits,
    /// How many bytes of rules a team can store within 24 hours.
    pub(crate) rules_per_day: u64,
}

/// The use cases for a command that does one thing and ends. They have their own connections, with
/// a limit of one minute for each statement.
pub(crate) fn management(pool: &PgPool, queue: Queue, means: Means) -> Arc<Management> {
    let policy = means.egress;
    Arc::new(Management {
        pool: database::for_command(pool),
        queue,
        master_key: means.master_key,
        trial_pool: TrialPool::new(means.rules, None),
        endpoint_checks: EndpointChecks::without_tests(Arc::new(move |team, url| {
            config::check_url(&policy, team, url)
        })),
        // No command shows images.
        preview_pool: PreviewPool::new(None),
        rules_per_day: means.rules_per_day,
        exports: ConcurrentReads::default(),
        rate_limit: RateLimit::new(RateLimitSettings::default()),
        passwords: Passwords::default(),
        sign_on: None,
    })
}

/// Why a use case was refused, as an error of a command.
pub(crate) fn told(refused: Refused) -> anyhow::Error {
    told_of_rules(refused, &[])
}

/// The same for a command with rules: a mistake in a rule is shown with the name of the rule.
pub(crate) fn told_of_rules(refused: Refused, names: &[String]) -> anyhow::Error {
    let Refused::Fields(fields) = refused else {
        return refused.into();
    };
    let problems = fields.problems.iter();
    let mut lines: Vec<String> = problems.map(|problem| line(problem, names)).collect();
    if let Some(most) = fields.cut_at {
        lines.push(format!("only the first {most} mistakes are listed"));
    }
    match lines.as_slice() {
        [line] => anyhow!("{line}"),
        lines => anyhow!("correct these mistakes:\n  {}", lines.join("\n  ")),
    }
}

fn line(problem: &FieldProblem, names: &[String]) -> String {
    let FieldProblem {
        field,
        message,
        position,
    } = problem;
    let mut line = option_of(field).to_owned();
    if let Some(name) = rule_of(field).and_then(|rule| names.get(rule))
        && !name.is_empty()
    {
        line = format!("{line} (`{name}`)");
    }
    match position {
        Some(position) => format!("{line}: {message} (at character {position})"),
        None => format!("{line}: {message}"),
    }
}

/// The option that a member of a request comes from; the member itself if there is none.
fn option_of(field: &str) -> &str {
    match field {
        "events" => "--events",
        "name" => "--name",
        "plan_id" => "--plan",
        "scopes" => "--scopes",
        "site_id" => "--site",
        "team_id" => "--team",
        "url" => "--url",
        member => member,
    }
}

/// Which rule a member such as `rules[2].pattern` belongs to, from 0.
fn rule_of(field: &str) -> Option<usize> {
    let (number, _) = field.strip_prefix("rules[")?.split_once(']')?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_member_is_told_as_the_option_that_it_comes_from() {
        let told = |field: &str| told(Refused::field(field, "is wrong")).to_string();
        assert_eq!(told("url"), "--url: is wrong");
        assert_eq!(told("team_id"), "--team: is wrong");
        assert_eq!(told("rules[0].pattern"), "rules[0].pattern: is wrong");
    }

    #[test]
    fn a_mistake_in_a_rule_is_told_with_its_name_and_several_a_line_each() {
        let names = ["a".to_owned(), String::new()];
        let problem = |field: &str, position| FieldProblem {
            field: field.to_owned(),
            message: "is wrong".to_owned(),
            position,
        };
        let problems = vec![
            problem("rules[0].pattern", Some(3)),
            problem("rules[1].type", None),
            problem("rules[2]", None),
        ];
        let told = told_of_rules(Refused::fields(problems), &names).to_string();
        let lines: Vec<&str> = told.lines().map(str::trim).collect();
        assert_eq!(
            lines,
            [
                "correct these mistakes:",
                "rules[0].pattern (`a`): is wrong (at character 3)",
                "rules[1].type: is wrong",
                "rules[2]: is wrong",
            ]
        );
    }
}
