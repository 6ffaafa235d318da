//! Sites, items whose answers are known, and what the machine finds about an item.

use domain::{
    media::{Modality, ModerationType, Status},
    rules::Rule,
    score::{Category, Scores},
};
use serde_json::{Value, json};
use store::{
    analysis::{Analysed, ProviderReport},
    encryption::MasterKey,
    item_progress::{Progress, Stage},
    rule_group::{self, NewVersion},
    site,
    verdict::Concluded,
};
use uuid::Uuid;

use super::{Hour, Item, highest};
use crate::app::SUBMIT;

const CATEGORIES: [&str; 3] = ["spam", "hate", "violence"];

impl Hour<'_> {
    /// A site with a group that has a rule with thresholds.
    pub(super) async fn site(&mut self, name: &str, number: usize) {
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

    /// An item whose answer is known.
    pub(super) async fn known(&mut self, number: usize) {
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
    pub(super) async fn submit(&mut self, item: &Item, body: &str) -> String {
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
}
