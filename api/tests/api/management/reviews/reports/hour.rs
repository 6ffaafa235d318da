//! An hour of three people at the desk, played through the real operations. Only the times are set afterwards.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use domain::{
    media::{Modality, ModerationType, Status},
    rules::Rule,
    score::{Category, Scores},
};
use serde_json::{Value, json};
use store::{
    analysis::{Analysed, ProviderReport},
    progress::{Progress, Stage},
    rule_group::{self, NewVersion},
    seal::MasterKey,
    site,
    verdict::Concluded,
};
use uuid::Uuid;

use crate::{
    app::{App, SUBMIT},
    management::{
        Caller,
        reviews::{claim, decide},
    },
};

/// What somebody said.
#[derive(Clone, Debug)]
pub(super) struct Said {
    /// Of `Hour::people`.
    pub(super) person: usize,
    pub(super) site: usize,
    pub(super) item: usize,
    pub(super) rejects: bool,
    /// Why: `first` and `second` of two people, `only`, `lead`, `audit`, `audit lead`, `appeal`, `golden`.
    pub(super) why: &'static str,
    /// Whether the verdict of the item, or the review, was settled by it.
    pub(super) is_told: bool,
    /// Of an audit or an appeal: what was in force. Of a second person: what the first one said. Of a golden item: the answer.
    pub(super) other: Option<bool>,
    pub(super) severity: &'static str,
    /// Of `Hour::policies`.
    pub(super) policy: Option<usize>,
    review: Uuid,
    pub(super) at: DateTime<Utc>,
    pub(super) waited_ms: i64,
    pub(super) allowed_ms: i64,
}

/// An item.
#[derive(Clone, Debug, Default)]
pub(super) struct Item {
    pub(super) media: String,
    pub(super) site: usize,
    pub(super) policy: Option<usize>,
    /// The scores of two providers.
    pub(super) scores: [Option<f64>; 2],
    /// Which of `Hour::rules` had matched.
    pub(super) rules: Vec<usize>,
    /// What people said in the end; none while it waits.
    pub(super) rejected: Option<bool>,
    /// Whether somebody overturned it on its page.
    pub(super) overturned_elsewhere: bool,
}

/// What was played.
pub(super) struct Hour<'a> {
    pub(super) app: &'a App,
    pub(super) lead: Caller<'a>,
    pub(super) people: Vec<(Caller<'a>, String)>,
    pub(super) sites: Vec<Uuid>,
    keys: Vec<String>,
    /// Id, code, severity, and how many minutes it allows.
    pub(super) policies: Vec<(Uuid, &'static str, &'static str)>,
    /// Id, name and kind.
    pub(super) rules: Vec<(Uuid, &'static str, &'static str)>,
    pub(super) groups: Vec<Uuid>,
    pub(super) threshold_rules: Vec<Uuid>,
    pub(super) items: Vec<Item>,
    golden: BTreeMap<String, (usize, bool)>,
    pub(super) said: Vec<Said>,
    /// What was said a day later.
    pub(super) late: Vec<Said>,
    /// Since when what still waits has waited, and whether it is overdue: by item.
    pub(super) waiting: Vec<(usize, DateTime<Utc>, bool)>,
    chance: u64,
}

const SITES: [&str; 2] = ["Forum", "=Market, \"the best\""];
const CATEGORIES: [&str; 3] = ["spam", "hate", "violence"];

impl<'a> Hour<'a> {
    /// Sets the stage, and plays.
    pub(super) async fn play(app: &'a App) -> Self {
        let mut hour = Self::begin(app).await;
        for number in 0..240 {
            hour.item(number).await;
        }
        for number in 240..252 {
            hour.left(number).await;
        }
        hour.set_times().await;
        hour
    }

    async fn begin(app: &'a App) -> Self {
        let lead = app.member(app.tenant.team).await;
        let mut people = Vec::new();
        for _ in 0..2 {
            let person = app.moderator().await;
            let id = person.id().await;
            people.push((person, id));
        }
        let second_lead = app.member(app.tenant.team).await;
        let id = second_lead.id().await;
        people.push((second_lead, id));
        let mut policies = Vec::new();
        for (code, number, category, two) in [
            ("spam", 0, "spam", false),
            ("hate", 2, "hate", false),
            ("threats", 3, "violence", true),
        ] {
            let id = app.policy(code, number, &[category], two).await;
            let severity = ["low", "normal", "high", "critical"][usize::try_from(number).unwrap()];
            policies.push((id, code, severity));
        }
        let mut hour = Self {
            app,
            lead,
            people,
            sites: Vec::new(),
            keys: Vec::new(),
            policies,
            rules: vec![
                (Uuid::now_v7(), "words", "keyword"),
                (Uuid::now_v7(), "=links", "link"),
            ],
            groups: Vec::new(),
            threshold_rules: Vec::new(),
            items: Vec::new(),
            golden: BTreeMap::new(),
            said: Vec::new(),
            late: Vec::new(),
            waiting: Vec::new(),
            chance: 7,
        };
        for (number, name) in SITES.into_iter().enumerate() {
            hour.site(name, number).await;
        }
        for number in 0..16 {
            hour.known(number).await;
        }
        hour
    }

    /// A site with a group that has a rule with thresholds.
    async fn site(&mut self, name: &str, number: usize) {
        let rule = Uuid::now_v7();
        let rules: Rule = serde_json::from_value(json!({
            "id": rule,
            "name": "hateful",
            "type": "ai_threshold",
            "category": "hate",
            "review_at": ([0.4, 0.37][number]),
            "reject_at": 0.9,
        }))
        .unwrap();
        let mut tx = self.app.pool.begin().await.unwrap();
        let version = NewVersion {
            rules: &[rules],
            categories: &[Category::Hate],
        };
        let (team, key) = (self.app.tenant.team, MasterKey::new([7; 32]));
        let group = rule_group::create(&mut tx, team, name, version)
            .await
            .unwrap();
        let (site, _) = site::create(&mut tx, &key, team, name, group)
            .await
            .unwrap();
        let (_, key) = site::keys::create(&mut tx, site).await.unwrap();
        tx.commit().await.unwrap();
        let settings = json!({ "audit_percent": ([0, 100][number]), "golden_every": 5 });
        let path = format!("/sites/{site}/desk");
        self.lead.patch(&path, settings).await.ok();
        self.groups.push(group.as_uuid());
        self.threshold_rules.push(rule);
        self.sites.push(site.as_uuid());
        self.keys.push(key.expose().to_owned());
    }

    /// A number below this one. The same numbers in each run.
    fn draw(&mut self, below: u64) -> u64 {
        self.chance = self
            .chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.chance >> 33) % below
    }

    /// An item whose answer is known.
    async fn known(&mut self, number: usize) {
        let item = Item {
            site: number % 2,
            ..Item::default()
        };
        let name = format!("known {number}");
        let media = self.submit(&item, &name).await;
        let expected = self.draw(2) == 0;
        let decision = if expected { "reject" } else { "approve" };
        let path = format!("/media/{media}/decision");
        let body = json!({ "decision": decision, "reason": "We know." });
        self.lead.post(&path, body).await.ok();
        let path = format!("/media/{media}/golden");
        self.lead
            .put(&path, json!({ "expected": decision }))
            .await
            .done();
        self.golden.insert(name, (item.site, expected));
    }

    /// Submits an item, with what the machine finds. It waits for a person then.
    async fn submit(&mut self, item: &Item, body: &str) -> String {
        let request = json!({ "api_key": self.keys[item.site], "body": body });
        let submitted = self.app.post(SUBMIT, &request).await.ok();
        let media = submitted["id"].as_str().unwrap().to_owned();
        let id = media.parse().unwrap();
        let of = |score: Option<f64>| -> Scores {
            score
                .into_iter()
                .map(|score| (Category::Hate, score))
                .collect()
        };
        let report = |provider: &str, score| ProviderReport {
            provider: provider.into(),
            modality: Modality::Text,
            scores: of(score),
            elapsed_ms: 3,
            failure: None,
            raw: None,
            cached_from: None,
            unseen: None,
        };
        let [one, two] = item.scores;
        let analysed = Analysed {
            media: id,
            team: self.app.tenant.team,
            scores: highest(item).map(|score| of(Some(score))),
            image_scored: None,
            providers: vec![report("own", one), report("openai", two)],
            unchecked: Vec::new(),
            gaps: Vec::new(),
            has_parts: false,
        };
        let categories: Vec<&str> = item
            .policy
            .map(|policy| CATEGORIES[policy])
            .into_iter()
            .collect();
        let violations: Vec<Value> = item
            .rules
            .iter()
            .map(|rule| {
                let (id, name, kind) = self.rules[*rule];
                json!({ "rule_id": id, "rule_name": name, "rule_type": kind, "confidence": 1.0, "details": "It matched." })
            })
            .collect();
        let concluded = Concluded {
            media: id,
            status: Status::PendingReview,
            moderation_type: ModerationType::Ai,
            details: json!({ "rule_violations": violations, "flagged_categories": categories })
                .to_string(),
            trace: "{}".into(),
            shadows: Vec::new(),
        };
        let judged = Stage::Judged {
            analysed: Some(analysed),
            concluded,
        };
        self.app.apply(Progress::from(judged)).await;
        media
    }

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
    async fn item(&mut self, number: usize) {
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
    async fn left(&mut self, number: usize) {
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

    /// Everything happens in one hour, and the last five decisions a day later.
    async fn set_times(&mut self) {
        let as_stored = "select count(*) from review_opinions o where o.kind = 'review' and (o.said_at < o.waiting_since
             or o.due_at <> o.waiting_since
                 + make_interval(mins => ('{2880,1440,240,60}'::integer [])[o.severity + 1]))";
        assert_eq!(self.app.count(as_stored).await, 0);
        let begin: DateTime<Utc> = "2026-01-15T10:30:00Z".parse().unwrap();
        let late = self.said.len() - 5;
        for number in 0..self.said.len() {
            let day = TimeDelta::days(i64::from(number >= late));
            let at = begin + day + TimeDelta::seconds(i64::try_from(number).unwrap() * 8);
            let waited = i64::try_from(self.draw(900_000)).unwrap();
            let allowed = i64::try_from(self.draw(1_500)).unwrap() * 1_000;
            let (review, person) = (self.said[number].review, self.said[number].person);
            let person: Uuid = self.people[person].1.parse().unwrap();
            let since = at - TimeDelta::milliseconds(waited);
            let set = "update review_opinions
                 set said_at = $3, waiting_since = $4, due_at = $5
                 where task_id = $1 and actor_id = $2";
            let done = sqlx::query(set)
                .bind(review)
                .bind(person)
                .bind(at)
                .bind(since)
                .bind(since + TimeDelta::milliseconds(allowed))
                .execute(&self.app.pool)
                .await
                .unwrap();
            assert_eq!(done.rows_affected(), 1);
            let said = &mut self.said[number];
            (said.at, said.waited_ms, said.allowed_ms) = (at, waited, allowed);
        }
        self.late = self.said.split_off(late);
        for item in 240..252 {
            let is_overdue = self.draw(3) == 0;
            let since = begin - TimeDelta::minutes(i64::try_from(self.draw(600)).unwrap());
            let due = if is_overdue {
                begin
            } else {
                Utc::now() + TimeDelta::days(1)
            };
            let set = "update review_tasks set waiting_since = $2, due_at = $3 where media_id = $1::text::uuid";
            sqlx::query(set)
                .bind(&self.items[item].media)
                .bind(since)
                .bind(due)
                .execute(&self.app.pool)
                .await
                .unwrap();
            self.waiting.push((item, since, is_overdue));
        }
    }
}

/// The score that a rule looks at.
pub(super) fn highest(item: &Item) -> Option<f64> {
    item.scores.into_iter().flatten().reduce(f64::max)
}
