//! `gatehouse check`: tries everything that a process needs, without starting one.

mod notes;
mod provider_checks;

use std::{io, process::ExitCode};

use anyhow::anyhow;
use store::{PgPool, encryption::MasterKey, schema};
use workers::{outbound::EgressPolicy, provider::Profile};

use super::Cli;
use crate::{
    config::{self, CheckOptions, Located},
    logs,
    service::{self, Wants},
    terminal,
};

/// Prints one line for each check, with its result. A check that depends on a failed one is
/// skipped.
pub(crate) async fn run(options: CheckOptions) -> anyhow::Result<ExitCode> {
    let mut problems = Problems(0);
    for problem in config::problems::<Cli>() {
        problems.of::<()>(Err(anyhow!(problem)));
    }
    for unknown in config::unknown_variables::<Cli>(options.providers.file()) {
        problems.of::<()>(Err(anyhow!(unknown)));
    }
    problems.of(logs::filter());
    problems.of(config::log_format());
    problems.of(config::webhook_secret());
    let located = problems.of(options.database.locate());
    if let Some(located) = &located {
        let key = problems.of(located.master_key());
        if key.is_some() {
            tell("master key: readable")?;
        }
        check_database(&mut problems, located, key.as_ref()).await?;
    } else {
        problems.of(config::master_key());
    }
    if let Some(providers) = problems.of(options.providers.load()) {
        let described: Vec<String> = providers
            .iter()
            .map(|provider| described(provider.profile()))
            .collect();
        tell(&format!("providers: {}", described.join(", ")))?;
        if options.providers_live {
            provider_checks::ask_all(&providers, |outcome| {
                if let Some(line) = problems.of(outcome) {
                    tell(&line)?;
                }
                Ok(())
            })
            .await?;
        }
    }
    tell(&opened(&options.egress.policy(None)))?;
    Ok(match problems.0 {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

async fn check_database(
    problems: &mut Problems,
    located: &Located,
    key: Option<&MasterKey>,
) -> anyhow::Result<()> {
    let opened = service::open(&located.database, "gatehouse check").await;
    let Some(pool) = problems.of(opened) else {
        return Ok(());
    };
    tell("database: reachable, not read-only")?;
    let standing = schema::compatibility(&pool).await;
    let Some(standing) = problems.of(standing.map_err(Into::into)) else {
        return Ok(());
    };
    tell(&format!("schema: {standing}"))?;
    if let Some(key) = key
        && problems.of(require_key(&pool, key).await).is_some()
    {
        tell("master key: opens this database's secrets")?;
    }
    if let Some(wants) = problems.of(wants(&pool).await) {
        if wants.are_too_many() {
            problems.of::<()>(Err(anyhow!("{wants}")));
        } else {
            tell(&format!("connections: {wants}"))?;
        }
    }
    for note in problems.of(notes::about(&pool).await).unwrap_or_default() {
        tell(&format!("note: {note}"))?;
    }
    Ok(())
}

async fn wants(pool: &PgPool) -> anyhow::Result<Wants> {
    let mut conn = database::connect(pool).await?;
    Ok(Wants::ask(&mut conn).await?)
}

async fn require_key(pool: &PgPool, key: &MasterKey) -> anyhow::Result<()> {
    let mut conn = database::connect(pool).await?;
    service::check_master_key(&mut conn, key).await
}

/// How many checks failed.
struct Problems(u32);

impl Problems {
    /// The value of a successful check. A problem is printed and counted.
    fn of<T>(&mut self, outcome: anyhow::Result<T>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(problem) => {
                logs::print_error(&problem);
                self.0 += 1;
                None
            }
        }
    }
}

fn tell(line: &str) -> io::Result<()> {
    terminal::print(&format!("{line}\n"))
}

fn opened(policy: &EgressPolicy) -> String {
    let ranges = policy.ranges.iter().map(|range| range.team);
    let teams = ranges.chain(policy.exempt.iter().map(|exemption| exemption.team));
    format!(
        "egress: networks opened: {}, hosts opened: {}, of these for one team only: {}",
        policy.ranges.len(),
        policy.exempt.len(),
        teams.flatten().count()
    )
}

/// A provider in a few words: its name, its kind, and what it analyses.
fn described(profile: &Profile) -> String {
    let Profile {
        name, kind, scope, ..
    } = profile;
    let shown = match (scope.text.is_empty(), scope.image.is_empty()) {
        (false, false) => "text and images",
        (false, true) => "text",
        (true, _) => "images",
    };
    format!("{name} ({kind}, {shown})")
}
