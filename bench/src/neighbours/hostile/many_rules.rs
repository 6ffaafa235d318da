//! Rule groups as heavy as the service accepts, each made known to the workers by one-byte texts.
//!
//! It searches for the heaviest accepted group. Then it makes as many of them as permitted, then
//! new versions and shadows of them. All are attached to one site, so that one item needs many of
//! them at once. Submissions also name them one by one, so that no cache keeps them.

use std::{cell::RefCell, time::Duration};

use futures::future::join_all;
use serde_json::{Value, json};

use super::{
    heavy_rules::{self, Weight},
    team::{OwnSite, Said, Team, id, one_byte, submission, turn},
};
use crate::http::Client;

/// After this many answers that say nothing about a size, it counts as too heavy.
const GIVE_UP: u32 = 5;
const CONNECTIONS: usize = 8;
const BETWEEN_BACKTESTS: Duration = Duration::from_secs(2);

struct Definer<'a> {
    team: &'a Team,
    site: &'a OwnSite,
    weight: Weight,
    client: Client,
    /// Groups that can be named.
    groups: &'a RefCell<Vec<String>>,
    made: u32,
}

/// A group that was accepted.
struct Made {
    id: String,
    revision: Value,
}

pub(super) async fn attack(team: &Team) {
    let Some(site) = team.site("Heavy", &heavy_rules::light()).await else {
        return;
    };
    let groups = RefCell::new(Vec::new());
    let definers = Weight::ALL.map(|weight| {
        let definer = Definer {
            team,
            site: &site,
            weight,
            client: team.client(1),
            groups: &groups,
            made: 0,
        };
        definer.define()
    });
    let next = |number: u64| {
        let groups = groups.borrow();
        let group = turn(&groups, number)?;
        let key = site.key(number)?;
        Some(if number.is_multiple_of(4) {
            one_byte(&key)
        } else {
            submission(&json!({ "api_key": key, "body": "x", "rule_group_id": group }))
        })
    };
    tokio::join!(
        team.make_keys(&site),
        join_all(definers),
        backtest(team, &groups),
        team.submit(CONNECTIONS, next)
    );
}

impl Definer<'_> {
    async fn define(mut self) {
        let Some((size, last)) = self.heaviest().await else {
            return;
        };
        let name = self.weight.name();
        self.team
            .note(format!("the heaviest accepted group has {size} {name}"));
        let mut last = last;
        while let Ok(Some(made)) = self.make(size).await {
            last = made;
        }
        self.publish(size, last).await;
    }

    /// Looks for the heaviest group that is accepted, down to an eighth.
    async fn heaviest(&mut self) -> Option<(usize, Made)> {
        let most = self.weight.most();
        let (mut accepted, mut refused) = (0, most + 1);
        let mut best = None;
        let mut size = self.weight.first();
        loop {
            match self.make(size).await {
                Ok(Some(made)) => {
                    accepted = size;
                    best = Some((size, made));
                }
                Ok(None) => refused = size,
                Err(Permitted) => return best,
            }
            if refused - accepted <= 1.max(accepted / 8) {
                return best;
            }
            size = if refused > most {
                most
            } else {
                usize::midpoint(accepted, refused)
            };
        }
    }

    /// Makes a group of a size and attaches it to the site; `None` when it is too heavy.
    async fn make(&mut self, size: usize) -> Result<Option<Made>, Permitted> {
        self.made += 1;
        let mut random = self.team.random();
        let rules = self.weight.rules(size, self.made, &mut random);
        let name = format!("{} {}", self.weight.name(), self.made);
        let body = json!({ "name": name, "rules": rules });
        let what = "make a heavy group";
        for _ in 0..GIVE_UP {
            let said = self.team.manage(
                &mut self.client,
                what,
                ("POST", "/rule-groups"),
                Some(&body),
            );
            match said.await {
                Said::Done(made) => return Ok(self.attach(&made).await),
                Said::Refused => return Ok(None),
                Said::Enough => return Err(Permitted),
                Said::Later => {}
            }
        }
        Ok(None)
    }

    async fn attach(&mut self, made: &Value) -> Option<Made> {
        let id = id(made)?;
        self.groups.borrow_mut().push(id.clone());
        let path = format!("/sites/{}/rule-groups/{id}", self.site.id);
        self.team
            .manage(
                &mut self.client,
                "attach a heavy group",
                ("PUT", &path),
                None,
            )
            .await;
        let revision = made["draft_revision"].clone();
        Some(Made { id, revision })
    }

    /// Makes new versions of a group without end, alternately live and as a shadow.
    async fn publish(&mut self, size: usize, group: Made) {
        let Made { id, mut revision } = group;
        for variant in self.made + 1.. {
            let mut random = self.team.random();
            let rules = self.weight.rules(size, variant, &mut random);
            let draft = json!({ "revision": revision, "rules": rules });
            let path = format!("/rule-groups/{id}/draft");
            let edited = self.manage("edit a heavy group", ("PUT", &path), &draft);
            if let Some(edited) = edited.await {
                revision = edited["revision"].clone();
            }
            let live = variant % 2 == 0;
            let version = json!({ "revision": revision, "live": live });
            let path = format!("/rule-groups/{id}/versions");
            let made = self.manage("publish a heavy group", ("POST", &path), &version);
            if let Some(made) = made.await
                && !live
            {
                let shadow = json!({ "version_id": made["id"] });
                let path = format!("/rule-groups/{id}/shadow-version");
                self.manage("put into the shadow", ("PUT", &path), &shadow)
                    .await;
            }
        }
    }

    async fn manage(&mut self, what: &str, to: (&str, &str), body: &Value) -> Option<Value> {
        match self
            .team
            .manage(&mut self.client, what, to, Some(body))
            .await
        {
            Said::Done(made) => Some(made),
            Said::Refused | Said::Enough | Said::Later => {
                tokio::time::sleep(Duration::from_millis(100)).await;
                None
            }
        }
    }
}

/// The permitted number is reached.
struct Permitted;

/// Replays what was judged by heavy groups, one after the other.
async fn backtest(team: &Team, groups: &RefCell<Vec<String>>) {
    let mut client = team.client(2);
    for number in 0.. {
        tokio::time::sleep(BETWEEN_BACKTESTS).await;
        let group = turn(&groups.borrow(), number).cloned();
        let Some(group) = group else { continue };
        let path = format!("/rule-groups/{group}/backtests");
        let body = json!({ "limit": 1000 });
        team.manage(&mut client, "backtest", ("POST", &path), Some(&body))
            .await;
    }
}
