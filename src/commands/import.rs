//! `gatehouse import`: puts the archive of an export into this database, member by member. It can be interrupted and run again.

mod archive;

use std::{collections::HashMap, fmt::Write as _, path::PathBuf, sync::Arc};

use anyhow::{Context as _, anyhow};
use domain::{
    id::{SiteId, TeamId},
    rule_file::InputFile,
};
use management::{
    Caller, Management,
    imports::{self, Groups, Line, Stored, Target},
};
use queue::Queue;
use serde_json::{Value, json};

use crate::{
    command_line::{self, Means, told, told_of_rules},
    config::{AnyDatabaseOptions, RuleOptions, id},
    service,
    terminal::{self, quoted, tell},
};
use archive::Verified;

/// The options of `gatehouse import`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    database: AnyDatabaseOptions,
    /// The archive
    #[arg(long, value_name = "FILE.tar")]
    file: PathBuf,
    /// The team that gets the site
    #[arg(long, value_parser = id::<TeamId>)]
    team: TeamId,
    /// A site of the team that gets the items, and keeps its settings [default: the archive's site, which is created if it is not
    /// there]
    #[arg(long, value_parser = id::<SiteId>)]
    site: Option<SiteId>,
    #[command(flatten)]
    rules: RuleOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Imports the archive.
///
/// # Errors
/// The archive is incomplete, damaged or of another version; something in it belongs to somebody else here; the database failed.
pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    const NAME: &str = "gatehouse import";
    let verified = archive::verify(&options.file)?;
    let located = options.database.locate()?;
    let pool = service::open_current(&located.database, NAME).await?;
    let means = Means {
        master_key: Some(located.master_key()?),
        rules: options.rules.limits(),
        ..Means::default()
    };
    let queue = Queue::open_to_notify(pool.clone());
    let management = command_line::management(&pool, queue, means);
    let made = import(&management, &verified, options.team, options.site).await?;
    if options.json {
        return terminal::print_json(&made);
    }
    let mut text = String::new();
    for (name, value) in made.as_object().into_iter().flatten() {
        // Writing to a string cannot fail.
        let _ = match value {
            Value::String(value) => writeln!(text, "{name:<22}{value}"),
            value => writeln!(text, "{name:<22}{value}"),
        };
    }
    Ok(terminal::print(&text)?)
}

async fn import(
    management: &Arc<Management>,
    verified: &Verified,
    team: TeamId,
    wanted: Option<SiteId>,
) -> anyhow::Result<Value> {
    let caller = Caller::command_line(management);
    imports::require_team(&caller, team).await.map_err(told)?;
    let (groups, versions, new_versions) = rules(&caller, verified, team, wanted.is_none()).await?;
    let (site, is_new) = imports::site(&caller, team, wanted, &verified.site, &groups)
        .await
        .map_err(told)?;
    let target = Target {
        team,
        site,
        versions,
    };
    let mut all = Stored::default();
    for member in verified.items()? {
        let (name, content) = member?;
        let lines = content.lines().map(Line::parse);
        let lines: Result<Vec<Line>, _> = lines.collect();
        let lines = lines.with_context(|| format!("{} is unusable", quoted(&name)))?;
        let stored = imports::items(&caller, &target, lines)
            .await
            .map_err(told)
            .with_context(|| format!("{} cannot be imported", quoted(&name)))?;
        all.added += stored.added;
        all.there += stored.there;
        all.pending += stored.pending;
        let done = all.added + all.there + all.pending;
        tell(&format!("{name}: {done} of {} items", verified.items));
    }
    let made = json!({
        "site_id": site,
        "site_is_new": is_new,
        "new_rule_versions": new_versions,
        "new_items": all.added,
        "items_there": all.there,
        "pending_items_left_out": all.pending,
    });
    let details = json!({ "imported": { "export_id": verified.export, "result": made } });
    imports::finish(&caller, &target, details)
        .await
        .map_err(told)?;
    Ok(made)
}

/// Imports the groups of the site, and the versions that judged its items; of each group, the live version as well. Returns what
/// they are here, and how many versions are new.
async fn rules(
    caller: &Caller,
    verified: &Verified,
    team: TeamId,
    with_site: bool,
) -> anyhow::Result<(Groups, HashMap<uuid::Uuid, uuid::Uuid>, u64)> {
    let (mut groups, mut versions, mut new) = (Groups::new(), HashMap::new(), 0);
    for group in &verified.groups {
        let of_site = with_site
            && (verified.site.default_rule_group_id == group.id
                || verified.site.rule_group_ids.contains(&group.id));
        let is_used = |id: &uuid::Uuid| verified.versions.contains(id);
        let judged = group
            .versions
            .iter()
            .any(|version| is_used(&version.id.as_uuid()));
        if !of_site && !judged {
            continue;
        }
        let is_live = |version: &&imports::ListedVersion| version.id == group.live_version_id;
        let live = group.versions.iter().filter(is_live);
        let others = group
            .versions
            .iter()
            .filter(|version| !is_live(version) && is_used(&version.id.as_uuid()));
        for version in live.chain(others) {
            let what = format!("version {} of the rule group {}", version.number, group.id);
            let yaml = verified.rules(group.id, version.number)?;
            let file = InputFile::from_yaml(&yaml);
            let file = file.map_err(|error| anyhow!("{what} is no rule group: {error}"))?;
            let names = file.rules.names();
            let placed = imports::version(caller, team, (group, version), file).await;
            let placed = placed
                .map_err(|refused| told_of_rules(refused, &names))
                .with_context(|| format!("{what} cannot be imported"))?;
            groups.insert(group.id, placed.group);
            versions.insert(version.id.as_uuid(), placed.version.as_uuid());
            new += u64::from(placed.is_new);
        }
    }
    Ok((groups, versions, new))
}
