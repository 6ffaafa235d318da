//! Try rules on a sample.

use std::collections::HashMap;

use api_common::{
    Code, Field, Json, JsonBody, Path, RawJson, Refusal, Schema, given, or,
    public_schemas::ModerationDetails, text_decoding::optional_judged,
};
use domain::{
    id::{GroupVersionId, RuleGroupId},
    media::{ModerationType, OnFailure, Status},
    rules::{Evidence, RuleEffect, Violation},
    scope::Scope,
    score::{Category, Scores},
};
use management::rule_groups::trials::{self, NewTrial, Trial};
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    Caller, Operation, Tag, example_values, media::without_internals,
    rule_groups::rules::RuleDocuments,
};

#[derive(Default)]
pub(crate) struct Trials;

#[OpenApi(tag = "Tag::RuleGroups")]
impl Trials {
    /// Try rules on a sample
    ///
    /// Only this group judges the sample: its draft, one of its versions, or the rules of the request. Nothing of the sample is
    /// stored or logged. The answer tells which rules match, where, in which reading of the text, and at which thresholds.
    #[oai(
        path = "/rule-groups/:rule_group_id/test",
        method = "post",
        operation_id = "testRuleGroup"
    )]
    async fn test_rule_group(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<NewTest>,
    ) -> Result<Json<TestResult>, Refusal> {
        let (group, new) = (rule_group_id.0, request.value.into());
        let trial = trials::run(&caller, group, new).await?;
        Ok(Json(trial.try_into()?))
    }
}

/// A sample, and the rules that judge it.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTest {
    /// The text, as it would be submitted.
    #[schema(nullable)]
    #[serde(default, deserialize_with = "optional_judged")]
    text: Option<String>,
    /// The scores to use. If omitted, the providers are asked, if the rules ask for scores and this process knows
    /// providers.
    #[serde(default, deserialize_with = "given")]
    scores: Option<Field<Scores>>,
    /// A version of the group. Its rules judge the sample. If you omit both this and `rules`, the draft judges.
    #[serde(default, deserialize_with = "given")]
    version_id: Option<Field<GroupVersionId>>,
    /// Rules that judge the sample instead of the group's rules.
    #[serde(default, deserialize_with = "given")]
    rules: Option<RuleDocuments>,
    /// What happens to content that cannot be checked. The default is `review`.
    #[serde(default, deserialize_with = "given")]
    on_failure: Option<Field<OnFailure>>,
}

impl From<NewTest> for NewTrial {
    fn from(new: NewTest) -> Self {
        Self {
            text: new.text,
            scores: new.scores.map(|scores| scores.0),
            ask: true,
            version: new.version_id.map(|version| version.0),
            rules: new.rules.map(|rules| rules.0),
            on_failure: or(new.on_failure, OnFailure::Review),
        }
    }
}

/// The result of a trial.
#[derive(Serialize, Schema)]
pub(crate) struct TestResult {
    /// The status that an item with this content would get, if no other group judged it.
    status: Field<Status>,
    /// Who or what decides.
    moderation_type: Field<ModerationType>,
    /// `moderation_details` as applications would get them.
    details: RawJson<ModerationDetails>,
    /// How the result came about. It is for people: its members may change.
    trace: RawJson<HashMap<String, Value>>,
    /// The rules that the sample violates and what they matched, with nothing masked.
    matches: Vec<TestMatch>,
    /// The scores that the rules were compared with. `null` if there were none.
    #[schema(nullable)]
    scores: Option<Field<Scores>>,
    /// Where the scores come from: `request`, `providers` or `nowhere`.
    scores_from: String,
    /// Categories that the rules ask for and that have no score.
    unscored: Vec<String>,
}

/// A rule that the sample violates, and why.
#[derive(Serialize, Schema)]
struct TestMatch {
    /// The rule.
    rule_id: Uuid,
    /// The name of the rule.
    rule_name: String,
    /// The kind of rule.
    rule_type: String,
    /// What the rule asks for: `reject` or `review`.
    effect: String,
    /// The text that was matched, as it is in the sample. `null` for a score.
    #[schema(nullable)]
    matched_text: Option<String>,
    /// The reading of the text in which the match was found: `original`, `folded` or `loose`. `null` for a score. More may be
    /// added.
    #[schema(nullable)]
    view: Option<String>,
    /// Where the match begins, in bytes of the text in UTF-8. `null` for a score.
    #[schema(nullable)]
    starts_at: Option<u64>,
    /// Where the match ends, in bytes of the text in UTF-8. `null` for a score.
    #[schema(nullable)]
    ends_at: Option<u64>,
    /// The category that was scored. `null` for a text.
    #[schema(nullable)]
    category: Option<String>,
    /// The score. `null` for a text.
    #[schema(nullable)]
    score: Option<f64>,
    /// The threshold that the score reached. `null` for a text.
    #[schema(nullable)]
    threshold: Option<f64>,
}

impl TryFrom<Trial> for TestResult {
    type Error = Refusal;

    fn try_from(trial: Trial) -> Result<Self, Refusal> {
        let trace = without_internals(&trial.trace).map_err(store::Error::from)?;
        let text = trial.text.as_deref().unwrap_or_default();
        let violations = trial.violations.iter();
        Ok(Self {
            status: Field(trial.status),
            moderation_type: Field(trial.moderation_type),
            details: trial.details.into(),
            trace: trace.into(),
            matches: violations
                .map(|violation| TestMatch::new(violation, text))
                .collect(),
            scores: trial.scores.map(Field),
            scores_from: trial.scores_from.as_str().to_owned(),
            unscored: trial.unscored.iter().map(Category::to_string).collect(),
        })
    }
}

impl TestMatch {
    fn new(violation: &Violation, text: &str) -> Self {
        let mut told = Self {
            rule_id: violation.rule_id.as_uuid(),
            rule_name: violation.rule_name.clone(),
            rule_type: violation.rule_type.to_string(),
            effect: match violation.effect {
                RuleEffect::Reject => "reject".to_owned(),
                RuleEffect::Review => "review".to_owned(),
            },
            matched_text: None,
            view: None,
            starts_at: None,
            ends_at: None,
            category: None,
            score: None,
            threshold: None,
        };
        match &violation.evidence {
            Evidence::Text { view, span, .. } => {
                told.matched_text = text.get(span.clone()).map(str::to_owned);
                let view = serde_json::to_value(view).unwrap_or_default();
                told.view = view.as_str().map(str::to_owned);
                told.starts_at = Some(span.start as u64);
                told.ends_at = Some(span.end as u64);
            }
            Evidence::Score {
                category,
                score,
                threshold,
                ..
            } => {
                told.category = Some(category.to_string());
                told.score = Some(*score);
                told.threshold = Some(*threshold);
            }
            // A sample has no image.
            Evidence::Hash { .. } => {}
        }
        told
    }
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let violation = json!({
        "rule_id": example_values::RULE,
        "rule_name": "Blocked words",
        "rule_type": "keyword",
        "confidence": 1.0,
        "details": "A listed term was found in the text.",
        "matched_text": "b*****************d",
    });
    vec![
        Operation::new("testRuleGroup", Scope::RulesWrite)
            .problems(&[Code::EmptySubmission, Code::TextTooLarge])
            .request(json!({
                "text": "so much b.l.o.c.k.e.d word",
                "scores": { "violence": 0.2 },
            }))
            .answer(json!({
                "status": "rejected",
                "moderation_type": "rule",
                "details": { "rule_violations": [violation], "ai_analysis": { "violence": 0.2 } },
                "trace": { "groups": [], "evidence": [], "unchecked": [], "unscored": [] },
                "matches": [{
                    "rule_id": example_values::RULE,
                    "rule_name": "Blocked words",
                    "rule_type": "keyword",
                    "effect": "reject",
                    "matched_text": "b.l.o.c.k.e.d word",
                    "view": "loose",
                    "starts_at": 8,
                    "ends_at": 26,
                    "category": null,
                    "score": null,
                    "threshold": null,
                }],
                "scores": { "violence": 0.2 },
                "scores_from": "request",
                "unscored": [],
            })),
    ]
}
