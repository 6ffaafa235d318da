//! What every attack uses: the team's clients, and what it needs before it can attack.

mod site;
#[cfg(test)]
mod tests;

use std::{
    cell::RefCell,
    net::{IpAddr, Ipv4Addr},
    time::Duration,
};

use bytes::Bytes;
use futures::future::join_all;
use rand::{SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};

pub(super) use self::site::{MOST_ENDPOINTS, OwnSite};
use super::{Brief, Tally};
use crate::http::{self, Answer, Client, Silence};

/// How many addresses it uses. None of them is the well-behaved team's, because limits for each
/// address are tested elsewhere.
const ADDRESSES: u8 = 4;
/// How long it waits after an answer that asks it to wait, whatever time is asked for.
const IMPATIENCE: Duration = Duration::from_millis(100);
/// Characters of an example.
const SHOWN: usize = 300;

/// The hostile team.
pub(super) struct Team {
    pub(super) brief: Brief,
    tally: RefCell<Tally>,
}

/// The outcome of a management request.
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
        // 127.16 to 127.255: nothing else uses these addresses.
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
            // Nobody listens, so asking a thousand times a second is useless.
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
        if let Ok(Answer { status, body, .. }) = answer
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
