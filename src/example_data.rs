//! Example data: a team with a week of history, for `gatehouse up --demo-data`. Nothing of it is sent to anyone: deliveries have
//! ended when they are stored, and the endpoints are below `.invalid`, which no name server knows.

mod history;
mod plan;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use builtin::Analyser;
use chrono::{DateTime, Utc};
use domain::{
    decision::{Findings, Judged, Part, Verdict, decide},
    event::EventKind,
    id::{GroupVersionId, TeamId},
    media::OnFailure,
    name::Name,
    rule_file::InputFile,
    rules::{CompiledGroup, Content},
    score::{Category, Scores},
};
use management::{
    Caller, Management,
    endpoints::{self, NewEndpoint},
    rule_groups::{self, Group, NewRuleGroup},
    sites::{self, Settings},
};
use store::{
    PgPool,
    example_data::{self, Batch, State, Turn},
    rule_group,
};
use tracing::info;

use crate::command_line::told;
use history::{Endpoint, Moderator, Site};
use plan::{Chance, Place, SPAN, plan};

const MARKETPLACE_RULES: &str = include_str!("example_data/marketplace.yaml");
const FORUM_RULES: &str = include_str!("example_data/forum.yaml");
const SPAM_RULES: &str = include_str!("example_data/spam.yaml");

/// Chosen once. Another number gives other texts and other times.
const SEED: u64 = 20_260_301;

/// Items in a transaction. Each comes with about six other rows.
const BATCH: usize = 400;

/// Since when the forum's endpoint fails.
const FAILING: Duration = Duration::from_hours(9);

const MODERATOR: &str = "Mia (example)";

/// Creates the example data, unless it is there. `demo` is the demo team. If `beside_others` is not set, there must be no other
/// team than the two. `management` must have the master key.
pub(crate) async fn prepare(
    management: &Arc<Management>,
    demo: Option<TeamId>,
    beside_others: bool,
) -> anyhow::Result<()> {
    let pool = &management.pool;
    let Some(turn) = Turn::take(pool).await? else {
        bail!(
            "another process is creating or removing the example data: try again when it has ended"
        );
    };
    let mut conn = pool.acquire().await?;
    match example_data::state(&mut conn).await? {
        State::Complete => {
            info!(team.id = %example_data::TEAM, "--demo-data: the example data exists already, so nothing was added");
            return Ok(turn.end().await?);
        }
        State::Absent | State::Incomplete => {}
    }
    if !beside_others && let Some(other) = example_data::other_team(&mut conn, demo).await? {
        bail!(
            "--demo-data is refused, because this database is in use: it has the team `{other}`. To add the team `{}` to it \
             nevertheless, add --demo. Nothing was changed",
            example_data::NAME
        );
    }
    drop(conn);
    // What was interrupted is begun again.
    example_data::remove(pool).await?;
    let now = Utc::now();
    let since = now - SPAN - Duration::from_hours(1);
    let begun = {
        let name: Name = MODERATOR.parse()?;
        let mut tx = pool.begin().await?;
        let begun = example_data::begin(&mut tx, since, (&name, &no_password())).await?;
        tx.commit().await?;
        begun
    };
    let moderator = Moderator {
        id: begun.moderator,
        name: MODERATOR.to_owned(),
    };
    let sites = sites(management, now).await?;
    let mut chance = Chance::seeded(SEED);
    let planned = plan(now, &mut chance);
    for some in planned.chunks(BATCH) {
        let mut batch = Batch::default();
        for item in some {
            if let Some(site) = sites.iter().find(|site| site.place == item.place) {
                history::add(item, site, &moderator, now, (&mut batch, &mut chance))?;
            }
        }
        let mut tx = pool.begin().await?;
        example_data::add(&mut tx, &batch).await?;
        tx.commit().await?;
    }
    let failing = sites.iter().find_map(|site| {
        let since = site.endpoint.failing_since?;
        Some((site.endpoint.id, since))
    });
    ensure!(failing.is_some(), "an endpoint of the example fails");
    if let Some(failing) = failing {
        let mut tx = pool.begin().await?;
        example_data::finish(&mut tx, since, failing).await?;
        tx.commit().await?;
    }
    info!(
        team.id = %example_data::TEAM, items = planned.len(),
        "--demo-data: created the team `{}`; `gatehouse admin remove-example-data` removes it", example_data::NAME
    );
    Ok(turn.end().await?)
}

/// The two sites, with their rules and endpoints.
async fn sites(management: &Arc<Management>, now: DateTime<Utc>) -> anyhow::Result<[Site; 2]> {
    let spam = group(management, SPAM_RULES).await?;
    let marketplace = group(management, MARKETPLACE_RULES).await?;
    let forum = group(management, FORUM_RULES).await?;
    let both = EventKind::ALL.to_vec();
    let moderated = vec![EventKind::MediaModerated];
    let failing = Some(now - FAILING);
    Ok([
        site(
            management,
            Place::Marketplace,
            (&marketplace, &spam),
            both,
            None,
        )
        .await?,
        site(
            management,
            Place::Forum,
            (&forum, &spam),
            moderated,
            failing,
        )
        .await?,
    ])
}

async fn group(management: &Arc<Management>, yaml: &str) -> anyhow::Result<Group> {
    let file = InputFile::from_yaml(yaml)?;
    let new = NewRuleGroup {
        name: file.name,
        team: Some(example_data::TEAM),
        rules: file.rules,
        note: None,
    };
    let created = rule_groups::create(&Caller::command_line(management), new).await;
    Ok(created.map_err(told)?.group)
}

async fn site(
    management: &Arc<Management>,
    place: Place,
    (own, shared): (&Group, &Group),
    events: Vec<EventKind>,
    failing_since: Option<DateTime<Utc>>,
) -> anyhow::Result<Site> {
    let (name, url) = match place {
        Place::Marketplace => (
            "Marketplace",
            "https://marketplace.example-data.invalid/webhooks",
        ),
        Place::Forum => ("Forum", "https://forum.example-data.invalid/webhooks"),
    };
    let caller = Caller::command_line(management);
    let settings = Settings {
        author_pointer: Some("/author".to_owned().try_into()?),
        rule_groups: vec![shared.id, own.id],
        ..Settings::named(name.to_owned(), own.id)
    };
    let issued = sites::create(&caller, Some(example_data::TEAM), &settings).await;
    let id = issued.map_err(told)?.site.id;
    let new = NewEndpoint {
        events: Some(events.clone()),
        description: Some("An example: nobody listens there".parse()?),
        ..NewEndpoint::at(url.parse()?)
    };
    let endpoint = endpoints::create(&caller, id, new).await;
    Ok(Site {
        id,
        place,
        judge: Judge::of(&management.pool, &[shared.live, own.live]).await?,
        endpoint: Endpoint {
            id: endpoint.map_err(told)?.id,
            url: url.to_owned(),
            events,
            failing_since,
        },
    })
}

/// The hash of no password, in the form of all others. Nobody can sign in with it.
fn no_password() -> String {
    let (salt, hash): ([u8; 16], [u8; 32]) = (rand::random(), rand::random());
    let [salt, hash] = [&salt[..], &hash[..]].map(|bytes| STANDARD_NO_PAD.encode(bytes));
    format!("$argon2id$v=19$m=19456,t=2,p=1${salt}${hash}")
}

/// The groups of a site, compiled.
struct Judge {
    groups: Vec<CompiledGroup>,
    analyser: Analyser,
}

impl Judge {
    /// Loads and compiles these versions.
    async fn of(pool: &PgPool, versions: &[GroupVersionId]) -> anyhow::Result<Self> {
        let mut groups = Vec::with_capacity(versions.len());
        for version in versions {
            let found = rule_group::find_version(pool, *version).await?;
            let found = found.context("the version was just created")?;
            groups.push(CompiledGroup::compile(found.group, *version, &found.rules)?);
        }
        Ok(Self {
            groups,
            analyser: Analyser::new(),
        })
    }

    /// What judges.
    fn versions(&self) -> Vec<GroupVersionId> {
        self.groups.iter().map(CompiledGroup::version).collect()
    }

    /// The verdict on a text, and its scores.
    fn judge(&self, text: &str) -> (Verdict, Scores) {
        let scores = self.analyser.analyse(text);
        let wanted: Vec<Category> = Category::ALL
            .into_iter()
            .filter(|category| {
                self.groups
                    .iter()
                    .any(|g| g.categories().contains(category))
            })
            .collect();
        // A provider is asked for what the rules want to know.
        let scores: Scores = scores
            .iter()
            .filter(|(category, _)| wanted.contains(category))
            .collect();
        let mut judged = Vec::new();
        let mut violations = Vec::new();
        for group in &self.groups {
            let begun = Instant::now();
            violations.extend(group.examine(&Content {
                text: Some(text),
                scores: &scores,
                image_matches: &[],
            }));
            judged.push(Judged {
                group: group.group(),
                version: group.version(),
                micros: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
            });
        }
        let verdict = decide(Findings {
            groups: judged,
            violations,
            scores: Some(scores),
            wanted: &wanted,
            gaps: &[],
            text: Part::Examined,
            image: Part::Absent,
            unchecked: Vec::new(),
            on_failure: OnFailure::Review,
        });
        (verdict, scores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_the_same_each_time_and_lies_in_the_past_week() {
        let now = Utc::now();
        let [one, other] = [(); 2].map(|()| plan(now, &mut Chance::seeded(SEED)));
        assert_eq!(one.len(), 3_000);
        assert!(
            one.iter()
                .zip(&other)
                .all(|(a, b)| a.at == b.at && a.kind == b.kind)
        );
        assert!(
            one.iter()
                .all(|item| item.at < now && item.at > now - SPAN - Duration::from_hours(1))
        );
        assert!(one.is_sorted_by_key(|item| item.at));
    }
}
