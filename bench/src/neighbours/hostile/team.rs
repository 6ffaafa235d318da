//! What every attack uses: the team's clients, and what it needs to have before it can attack.

use std::{
    cell::RefCell,
    net::{IpAddr, Ipv4Addr},
    time::Duration,
};

use bytes::Bytes;
use futures::future::join_all;
use rand::{SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};

use super::{Brief, Tally};
use crate::http::{self, Answer, Client, Silence};

/// How many addresses it comes from. None is the well-behaved team's: what an address may take is another defence.
const ADDRESSES: u8 = 4;
/// Keys that it makes, each with a rate of its own.
const KEYS: usize = 20;
/// Endpoints of a site that it tries to make.
pub(super) const MOST_ENDPOINTS: u64 = 300;
/// After an answer that asks it to wait, it waits for so long and no longer.
const IMPATIENCE: Duration = Duration::from_millis(100);
/// Characters of an example.
const SHOWN: usize = 300;

/// The hostile team.
pub(super) struct Team {
    pub(super) brief: Brief,
    tally: RefCell<Tally>,
}

/// What came of a management request.
pub(super) enum Said {
    /// It was done.
    Done(Value),
    /// The thing itself was refused: it is wrong, or too much.
    Refused,
    /// Nothing more of the kind is permitted.
    Enough,
    /// It may be permitted later, or nobody answered.
    Later,
}

/// A site of the team. Its keys and endpoints are made while it is already used.
pub(super) struct OwnSite {
    pub(super) id: String,
    pub(super) created_at: String,
    keys: RefCell<Vec<String>>,
    endpoints: RefCell<Vec<String>>,
}

impl OwnSite {
    /// One of its keys; `None` before there is one.
    pub(super) fn key(&self, number: u64) -> Option<String> {
        turn(&self.keys.borrow(), number).cloned()
    }

    /// One of its endpoints; `None` before there is one.
    pub(super) fn endpoint(&self, number: u64) -> Option<String> {
        turn(&self.endpoints.borrow(), number).cloned()
    }
}

impl Team {
    pub(super) fn new(brief: Brief) -> Self {
        Self {
            brief,
            tally: RefCell::default(),
        }
    }

    pub(super) fn into_tally(self) -> Tally {
        self.tally.into_inner()
    }

    pub(super) fn note(&self, note: String) {
        self.tally.borrow_mut().notes.push(note);
    }

    pub(super) fn random(&self) -> StdRng {
        StdRng::seed_from_u64(self.brief.seed)
    }

    /// An address that it comes from.
    pub(super) fn source(number: usize) -> IpAddr {
        let last = u8::try_from(number % usize::from(ADDRESSES)).unwrap_or(0);
        IpAddr::V4(Ipv4Addr::new(127, 66, 0, 1 + last))
    }

    pub(super) fn client(&self, number: usize) -> Client {
        Client::coming_from(Self::source(number), self.brief.api)
    }

    /// A URL on one of its servers. Each host is another address of 127.0.0.0/8.
    pub(super) fn url(&self, host: u64, path: &str) -> String {
        let [.., a, b, c] = (host % 0xEF_FF00 + 0x0100).to_be_bytes();
        let port = self.brief.hosts.port();
        // 127.16 to 127.255: nobody else is there.
        format!("http://127.{}.{b}.{c}:{port}{path}", 16 + a)
    }

    /// Sends a request and counts what came of it.
    pub(super) async fn send(
        &self,
        client: &mut Client,
        what: &str,
        request: &[u8],
    ) -> Option<Answer> {
        self.tally.borrow_mut().ask(what);
        let answer = client.send(request).await;
        self.count(what, &answer);
        if answer.is_err() {
            // Nobody listens: no use in asking a thousand times a second.
            tokio::time::sleep(IMPATIENCE).await;
        }
        answer.ok()
    }

    fn count(&self, what: &str, answer: &Result<Answer, Silence>) {
        let outcome = match answer {
            Ok(answer) => answer.outcome(),
            Err(Silence::Unreachable(error)) => format!("no connection: {}", error.kind()),
            Err(Silence::Broken(error)) => format!("no answer: {}", error.kind()),
        };
        let tally = &mut *self.tally.borrow_mut();
        if what == SUBMIT && outcome == "200" {
            tally.accepted += 1;
        }
        if let Ok(Answer { status, body }) = answer
            && *status >= 400
        {
            let key = format!("{what}: {outcome}");
            tally.examples.entry(key).or_insert_with(|| {
                let body = String::from_utf8_lossy(body);
                body.chars().take(SHOWN).collect()
            });
        }
        tally.answer(what, outcome);
    }

    /// A management request.
    pub(super) async fn manage(
        &self,
        client: &mut Client,
        what: &str,
        (method, path): (&str, &str),
        body: Option<&Value>,
    ) -> Said {
        let request = http::managed(method, path, &self.brief.token, body);
        let Some(answer) = self.send(client, what, &request).await else {
            return Said::Later;
        };
        match answer.status {
            200..300 => Said::Done(serde_json::from_slice(&answer.body).unwrap_or_default()),
            400 | 413 | 422 => Said::Refused,
            408 | 429 | 500.. => {
                tokio::time::sleep(IMPATIENCE).await;
                Said::Later
            }
            _ => Said::Enough,
        }
    }

    /// The same, again and again until it is done or refused.
    async fn insist(
        &self,
        client: &mut Client,
        what: &str,
        (method, path): (&str, &str),
        body: Option<&Value>,
    ) -> Option<Value> {
        loop {
            match self.manage(client, what, (method, path), body).await {
                Said::Done(made) => return Some(made),
                Said::Refused | Said::Enough => return None,
                Said::Later => {}
            }
        }
    }

    /// A site with these rules as its default group.
    pub(super) async fn site(&self, name: &str, rules: &Value) -> Option<OwnSite> {
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
    pub(super) async fn make_keys(&self, site: &OwnSite) {
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
    pub(super) async fn make_endpoints(&self, site: &OwnSite, url: impl Fn(u64) -> String) {
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

    /// Submits without end. `next` makes a request of a number; `None` is nothing yet.
    pub(super) async fn submit(&self, connections: usize, next: impl Fn(u64) -> Option<Bytes>) {
        let number = RefCell::new(0);
        let clients = (0..connections).map(|connection| {
            let (next, number) = (&next, &number);
            async move {
                let mut client = self.client(connection);
                loop {
                    let Some(request) = next(number.replace_with(|number| *number + 1)) else {
                        tokio::time::sleep(IMPATIENCE).await;
                        continue;
                    };
                    let answer = self.send(&mut client, SUBMIT, &request).await;
                    if answer.is_some_and(|answer| answer.status == 429) {
                        tokio::time::sleep(IMPATIENCE).await;
                    }
                }
            }
        });
        join_all(clients).await;
    }
}

/// What submissions are counted as.
pub(super) const SUBMIT: &str = "submit";

/// The `id` of something that was made.
pub(super) fn id(made: &Value) -> Option<String> {
    made["id"].as_str().map(str::to_owned)
}

/// Takes turns; `None` without anything.
pub(super) fn turn<T>(things: &[T], number: u64) -> Option<&T> {
    let length = u64::try_from(things.len()).unwrap_or(u64::MAX);
    let place = number.checked_rem(length)?;
    things.get(usize::try_from(place).ok()?)
}

/// A rendered submission of a text of one byte.
pub(super) fn one_byte(key: &str) -> Bytes {
    submission(&json!({ "api_key": key, "body": "x" }))
}

/// A rendered submission.
pub(super) fn submission(body: &Value) -> Bytes {
    http::submission_of(&body.to_string()).into()
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, net::SocketAddr};

    use super::*;
    use crate::neighbours::attack::Attack;

    fn team() -> Team {
        let address = SocketAddr::from(([127, 0, 0, 1], 9));
        Team::new(Brief {
            attack: Attack::Sockets,
            api: address,
            token: String::new(),
            hosts: address,
            seconds: 1,
            seed: 1,
            nice: 0,
        })
    }

    #[test]
    fn every_host_is_another_address_and_none_is_the_well_behaved_teams() {
        let team = team();
        let urls: HashSet<String> = (0..10_000)
            .chain(1 << 20..(1 << 20) + 10_000)
            .map(|host| team.url(host, "/ok"))
            .collect();
        assert_eq!(urls.len(), 20_000);
        assert!(urls.iter().all(|url| !url.starts_with("http://127.0.")));
        assert_eq!(team.url(0, "/ok"), "http://127.16.1.0:9/ok");
        let last = team.url(u64::MAX, "/ok");
        assert!(last.parse::<reqwest::Url>().is_ok(), "{last}");
    }

    #[test]
    fn requests_without_an_answer_are_told_apart_from_those_with_one() {
        let mut tally = Tally::default();
        tally.ask("list");
        tally.ask("list");
        tally.answer("list", "200".to_owned());
        let outcomes = &tally.requests["list"];
        assert_eq!(outcomes["200"], 1);
        assert_eq!(outcomes["no answer when time was up"], 1);
        tally.answer("list", "200".to_owned());
        assert_eq!(tally.requests["list"].len(), 1);
    }

    #[test]
    fn turns_go_round_and_nothing_has_none() {
        assert_eq!(turn(&['a', 'b'], 5), Some(&'b'));
        assert_eq!(turn::<char>(&[], 5), None);
    }
}
