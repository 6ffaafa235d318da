//! Sites of the hostile team, and their keys and endpoints.

use std::cell::RefCell;

use serde_json::{Value, json};

use super::{Team, id, turn};

/// Keys that it makes, each with a rate of its own.
const KEYS: usize = 20;
/// Endpoints of a site that it tries to make.
pub(crate) const MOST_ENDPOINTS: u64 = 300;

/// A site of the team. Its keys and endpoints are made while it is already used.
pub(crate) struct OwnSite {
    pub(crate) id: String,
    pub(crate) created_at: String,
    keys: RefCell<Vec<String>>,
    endpoints: RefCell<Vec<String>>,
}

impl OwnSite {
    /// One of its keys; `None` before there is one.
    pub(crate) fn key(&self, number: u64) -> Option<String> {
        turn(&self.keys.borrow(), number).cloned()
    }

    /// One of its endpoints; `None` before there is one.
    pub(crate) fn endpoint(&self, number: u64) -> Option<String> {
        turn(&self.endpoints.borrow(), number).cloned()
    }
}

impl Team {
    /// A site with these rules as its default group.
    pub(crate) async fn site(&self, name: &str, rules: &Value) -> Option<OwnSite> {
        let mut client = self.client(0);
        let group = json!({ "name": name, "rules": rules });
        let to = ("POST", "/rule-groups");
        let made = self.insist(&mut client, "make a group", to, Some(&group));
        let group = id(&made.await?)?;
        let site = json!({ "name": name, "default_rule_group_id": group });
        let made = self.insist(&mut client, "make a site", ("POST", "/sites"), Some(&site));
        let made = made.await?;
        Some(OwnSite {
            id: id(&made)?,
            created_at: made["created_at"].as_str()?.to_owned(),
            keys: RefCell::default(),
            endpoints: RefCell::default(),
        })
    }

    /// Makes keys of a site: as many as are permitted and of use.
    pub(crate) async fn make_keys(&self, site: &OwnSite) {
        let mut client = self.client(0);
        let path = format!("/sites/{}/keys", site.id);
        for _ in 0..KEYS {
            let made = self.insist(&mut client, "make a key", ("POST", &path), None);
            let Some(made) = made.await else { break };
            let key = made["secret"].as_str().map(str::to_owned);
            site.keys.borrow_mut().extend(key);
        }
    }

    /// Makes endpoints of a site: as many as are permitted, and no more than [`MOST_ENDPOINTS`].
    pub(crate) async fn make_endpoints(&self, site: &OwnSite, url: impl Fn(u64) -> String) {
        let mut client = self.client(1);
        let path = format!("/sites/{}/webhook-endpoints", site.id);
        for number in 0..MOST_ENDPOINTS {
            let endpoint = json!({ "url": url(number) });
            let made = self.insist(
                &mut client,
                "make an endpoint",
                ("POST", &path),
                Some(&endpoint),
            );
            let Some(made) = made.await else { break };
            site.endpoints.borrow_mut().extend(id(&made));
        }
    }
}
