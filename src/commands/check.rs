//! `gatehouse check`: tries everything that a process needs, without starting one.

use std::{io, process::ExitCode, sync::Arc};

use anyhow::anyhow;
use domain::media::Modality;
use store::{PgPool, database_metrics, encryption::MasterKey, schema};
use workers::{
    outbound::EgressPolicy,
    provider::{Profile, Provider, ProviderError, Providers, Told, Trial, try_out},
};

use super::{Cli, missing_role};
use crate::{
    config::{self, CheckOptions, Located},
    logs,
    prometheus::database_metrics::hidden,
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
            ask_all(&providers, |outcome| {
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
    for note in problems.of(notes(&pool).await).unwrap_or_default() {
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

/// What somebody should know about the server and about the rights of the role there. Nothing of it keeps a process from working, so
/// it does not change the exit code.
async fn notes(pool: &PgPool) -> anyhow::Result<Vec<String>> {
    let mut conn = database_metrics::connect(pool).await?;
    let sight = database_metrics::visibility(&mut conn).await?;
    let role = missing_role(pool).await?;
    let metrics = sight.blind().iter().map(hidden).collect::<Vec<_>>();
    // The DETAIL of an error about a row has the row's values.
    let texts = (sight.error_verbosity != "terse").then(|| {
        format!(
            "log_error_verbosity of this Postgres is `{}`: its log gets the rows that errors are about, with texts of items. As an \
             administrator, set `log_error_verbosity = terse` and `log_parameter_max_length_on_error = 0`",
            sight.error_verbosity
        )
    });
    Ok(role.into_iter().chain(metrics).chain(texts).collect())
}

/// Words in answers for an account without credit.
const SPENT: [&str; 5] = [
    "insufficient_quota",
    "billing_hard_limit_reached",
    "credit_balance_exhausted",
    "BILLING_DISABLED",
    "account_deactivated",
];
/// Words in answers that refuse the key.
const WRONG_KEY: [&str; 6] = [
    "invalid_api_key",
    "API_KEY_INVALID",
    "InvalidSignatureException",
    "UnrecognizedClientException",
    "MissingAuthenticationTokenException",
    "IncompleteSignature",
];
const SESSION_OVER: [&str; 2] = ["ExpiredTokenException", "ExpiredToken"];
const NOT_ENABLED: [&str; 3] = [
    "SERVICE_DISABLED",
    "API_KEY_SERVICE_BLOCKED",
    "SubscriptionRequiredException",
];

/// Sends a request to all providers at the same time, and reports the results in their order, with advice if one does not answer.
async fn ask_all(
    providers: &Providers,
    mut tell: impl FnMut(anyhow::Result<String>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let asking = |provider: &Arc<dyn Provider>| {
        (
            provider.profile().clone(),
            tokio::spawn(try_out(Arc::clone(provider))),
        )
    };
    let asked: Vec<_> = providers.iter().map(asking).collect();
    for (profile, trials) in asked {
        for trial in trials.await? {
            tell(line(&profile, &trial))?;
        }
    }
    Ok(())
}

fn line(profile: &Profile, trial: &Trial) -> anyhow::Result<String> {
    let shown = match trial.modality {
        Modality::Text => "text",
        Modality::Image => "image",
    };
    let (name, elapsed) = (&profile.name, trial.elapsed.as_millis());
    match &trial.outcome {
        Ok(unsaid) if unsaid.is_empty() => {
            Ok(format!("provider {name}, {shown}: ok in {elapsed} ms"))
        }
        Ok(unsaid) => {
            let unsaid: Vec<_> = unsaid.iter().map(ToString::to_string).collect();
            Ok(format!(
                "provider {name}, {shown}: ok in {elapsed} ms, but it did not score {}",
                unsaid.join(", ")
            ))
        }
        Err(error) => Err(anyhow!(
            "provider {name}, {shown}: {}; {}",
            problem_of(error),
            advice(profile.kind, error)
        )),
    }
}

/// The problem, with all details that operators can see.
fn problem_of(error: &ProviderError) -> String {
    let behind = error.code().map(str::to_owned).or_else(|| error.cause());
    match behind {
        Some(behind) => format!("{error}: {behind}"),
        None => error.to_string(),
    }
}

fn advice(kind: &str, error: &ProviderError) -> String {
    match error {
        ProviderError::Unreachable(_) => unreachable(&error.cause().unwrap_or_default()).to_owned(),
        ProviderError::TimedOut => {
            "check its url, this machine's network and the proxy, or raise deadline_seconds".into()
        }
        ProviderError::Limited { .. } => {
            "the key and the address are right: wait, or ask the provider for a higher quota".into()
        }
        ProviderError::Failed(_) => "try again later, and see the provider's status page".into(),
        ProviderError::NoCredentials(_) => "check the role that this process has in AWS".into(),
        ProviderError::Malformed(_) => format!(
            "check its url: the server there does not support the interface of the kind {kind}"
        ),
        ProviderError::Refused(told) if (300..400).contains(&told.status) => {
            "its url redirects: use the address to which it redirects".into()
        }
        ProviderError::Refused(_) => settings(kind).into(),
        ProviderError::Denied(told) => denied(kind, told),
    }
}

fn unreachable(cause: &str) -> &'static str {
    let has = |words: &[&str]| words.iter().any(|word| cause.contains(word));
    if has(&["proxy", "tunnel"]) {
        "check GATEHOUSE_PROVIDER_PROXY or its proxy, and the user and password there"
    } else if has(&["dns", "lookup", "resolve"]) {
        "check the host in its url, and this machine's DNS servers"
    } else if has(&["certificate", "Certificate"]) {
        "check the host in its url, or install the authority that issued its certificate on this machine"
    } else {
        "check the host and port in its url, and whether this machine can reach it or needs a proxy"
    }
}

fn denied(kind: &str, told: &Told) -> String {
    let code = told.code.as_deref().unwrap_or_default();
    let key = match kind {
        "rekognition" | "bedrock_guardrail" => {
            "check key_id and the key in key_env or key_file, and the region"
        }
        "sightengine" => "check key_id and the key in key_env or key_file",
        _ => "check the key in key_env, key_file or GATEHOUSE_OPENAI_API_KEY",
    };
    if SPENT.contains(&code) || told.status == 402 {
        "the account has no quota or credit left: add some in the provider's console".into()
    } else if SESSION_OVER.contains(&code) {
        "the session has ended: give a new session token, or use credentials = \"role\"".into()
    } else if NOT_ENABLED.contains(&code) {
        "enable the service for the account or project that the key belongs to".into()
    } else if code == "model_not_found" {
        "the account does not have the model: check model".into()
    } else if WRONG_KEY.contains(&code) {
        key.into()
    } else {
        match (told.status, kind) {
            (407, _) => {
                "the proxy asks for a user and a password: check GATEHOUSE_PROVIDER_PROXY or its proxy"
                    .into()
            }
            (404, _) => format!("nothing is at this address: check its url, or {}", settings(kind)),
            (_, "rekognition") => {
                format!("allow the key or role rekognition:DetectModerationLabels; {key}")
            }
            (_, "bedrock_guardrail") => {
                format!("allow the key or role bedrock:ApplyGuardrail on the guardrail; {key}")
            }
            (403, _) => format!("{key}, and what the key may do"),
            _ => key.into(),
        }
    }
}

/// The settings of a kind that a provider might not support.
fn settings(kind: &str) -> &'static str {
    match kind {
        "bedrock_guardrail" => "check guardrail, guardrail_version and region",
        "rekognition" => "check region",
        "openai" | "mistral" => "check model",
        "azure" => "check that its url is the resource's, and that the resource has Content Safety",
        "sightengine" => "check languages, and that the account has the models",
        _ if kind.starts_with("chat/") => {
            "check model, path, and what the server takes: answer_format, max_completion_tokens, temperature"
        }
        _ => "check the members of its kind in docs/providers.md",
    }
}
