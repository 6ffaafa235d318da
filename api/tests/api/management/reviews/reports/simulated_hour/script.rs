//! What is submitted, and who says what about it.

use chrono::DateTime;
use serde_json::json;

use super::{Hour, Item, Said};
use crate::management::reviews::{claim, decide};

impl Hour<'_> {
    fn draft(&mut self) -> Item {
        let policy =
            [Some(0), Some(1), Some(1), Some(2), None][usize::try_from(self.draw(5)).unwrap()];
        let mut rules = Vec::new();
        for rule in 0..2 {
            if self.draw(3) == 0 {
                rules.push(rule);
            }
        }
        let mut score = || {
            #[expect(clippy::cast_precision_loss, reason = "below 101")]
            let score = self.draw(101) as f64 / 100.0;
            (self.draw(8) > 0).then_some(score)
        };
        let scores = [score(), score()];
        Item {
            site: usize::try_from(self.draw(2)).unwrap(),
            policy,
            scores,
            rules,
            ..Item::default()
        }
    }

    /// An item, and what becomes of it.
    pub(super) async fn item(&mut self, number: usize) {
        let mut item = self.draft();
        let body = format!("item {number}");
        item.media = self.submit(&item, &body).await;
        self.items.push(item.clone());
        let (one, two) = match self.draw(2) {
            0 => (0, 1),
            _ => (1, 0),
        };
        let rejects = self.draw(10) < 4;
        let mut verdict = rejects;
        let mut decider = one;
        if item.policy == Some(2) {
            self.say(one, &body, number, rejects, "first", false, None)
                .await;
            let second = (self.draw(5) > 0) == rejects;
            self.say(
                two,
                &body,
                number,
                second,
                "second",
                second == rejects,
                Some(rejects),
            )
            .await;
            decider = two;
            if second != rejects {
                verdict = self.draw(2) == 0;
                self.say(2, &body, number, verdict, "lead", true, None)
                    .await;
                decider = 2;
            }
        } else {
            self.say(one, &body, number, rejects, "only", true, None)
                .await;
            if item.site == 1 {
                // All of this site is audited.
                let audit = (self.draw(6) > 0) == rejects;
                self.say(
                    two,
                    &body,
                    number,
                    audit,
                    "audit",
                    audit == verdict,
                    Some(verdict),
                )
                .await;
                if audit != verdict {
                    let lead = self.draw(2) == 0;
                    self.say(2, &body, number, lead, "audit lead", true, Some(verdict))
                        .await;
                    verdict = lead;
                }
                decider = 9;
            }
        }
        if decider < 2 && self.draw(12) == 0 {
            let path = format!("/media/{}/appeal", item.media);
            self.lead.post(&path, json!({})).await.ok();
            let says = (self.draw(3) > 0) == verdict;
            self.say(2, &body, number, says, "appeal", true, Some(verdict))
                .await;
            verdict = says;
        } else if self.draw(25) == 0 {
            let decision = if verdict { "approve" } else { "reject" };
            let body = json!({ "decision": decision, "reason": "Rather not." });
            let path = format!("/media/{}/decision", item.media);
            self.lead.post(&path, body).await.ok();
            verdict = !verdict;
            self.items[number].overturned_elsewhere = true;
        }
        self.items[number].rejected = Some(verdict);
    }

    /// An item that nobody decides.
    pub(super) async fn left(&mut self, number: usize) {
        let mut item = self.draft();
        item.media = self.submit(&item, &format!("item {number}")).await;
        self.items.push(item);
    }

    /// Somebody gets this item and says something. Known answers that come before are decided, too.
    #[expect(clippy::too_many_arguments, reason = "a line of the script")]
    async fn say(
        &mut self,
        person: usize,
        body: &str,
        item: usize,
        rejects: bool,
        why: &'static str,
        is_told: bool,
        other: Option<bool>,
    ) {
        loop {
            let mut claimed = claim(&self.people[person].0, 1).await;
            assert!(!claimed.is_empty(), "{body} is not for person {person}");
            let review = claimed.remove(0);
            let got = review["body"].as_str().unwrap().to_owned();
            let known = self.golden.get(&got).copied();
            let said = if let Some((site, expected)) = known {
                let rejects = (self.draw(4) > 0) == expected;
                Said {
                    person,
                    site,
                    item: usize::MAX,
                    rejects,
                    why: "golden",
                    is_told: false,
                    other: Some(expected),
                    severity: "normal",
                    policy: None,
                    review: review["id"].as_str().unwrap().parse().unwrap(),
                    at: DateTime::UNIX_EPOCH,
                    waited_ms: 0,
                    allowed_ms: 0,
                }
            } else {
                assert_eq!(got, body);
                let policy = self.items[item].policy;
                let severity = policy.map_or("normal", |policy| self.policies[policy].2);
                Said {
                    person,
                    site: self.items[item].site,
                    item,
                    rejects,
                    why,
                    is_told,
                    other,
                    severity: match (why, severity) {
                        // Appeals are at least as urgent.
                        ("appeal", "low" | "normal") => "high",
                        (_, severity) => severity,
                    },
                    policy,
                    review: review["id"].as_str().unwrap().parse().unwrap(),
                    at: DateTime::UNIX_EPOCH,
                    waited_ms: 0,
                    allowed_ms: 0,
                }
            };
            assert_eq!(review["severity"], said.severity);
            let decision = if said.rejects {
                json!({ "decision": "reject", "reason": "No." })
            } else {
                json!({ "decision": "approve" })
            };
            decide(&self.people[person].0, &said.review.to_string(), decision).await;
            self.app.end_holds().await;
            self.said.push(said);
            if known.is_none() {
                return;
            }
        }
    }
}
