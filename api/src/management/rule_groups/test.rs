//! Try rules on a sample. Nothing of it is stored, and nothing of it is logged.

use std::{collections::HashMap, sync::Arc, time::Instant};

use domain::{
    decision::{Findings, Judged, Part, Unchecked, Verdict, decide},
    id::{GroupVersionId, RuleGroupId},
    media::{ModerationType, OnFailure, Status},
    rules::{CompiledGroup, Content, Effect, Evidence, Rule, RuleKind, Violation},
    scope::Scope,
    score::{Category, Scores},
    submission::SubmissionLimits,
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::to_raw_value};
use store::rule_group;
use uuid::Uuid;

use super::{draft::draft, find, lists, rules::RuleDocuments, unknown_version};
use crate::{
    answer::Json,
    management::{
        Management, Tag,
        document::{Operation, example},
        media::without_internals,
        session::Caller,
    },
    member::{Member, given},
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
    public::ModerationDetails,
    raw::Raw,
};

/// A sample, and the rules that judge it.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct NewTest {
    /// The text, as it would be submitted.
    #[oai(nullable)]
    text: Option<String>,
    /// The scores that it is to have. Without, the providers are asked, if the rules ask for any and this process knows
    /// providers.
    #[serde(default, deserialize_with = "given")]
    scores: Option<Member<Scores>>,
    /// A version of the group whose rules judge. Without, and without `rules`, those of the draft do.
    #[serde(default, deserialize_with = "given")]
    version_id: Option<Member<GroupVersionId>>,
    /// Rules that judge instead of the group's.
    #[serde(default, deserialize_with = "given")]
    rules: Option<RuleDocuments>,
    /// What is to happen to what cannot be checked; `review` if nothing is said.
    #[serde(default, deserialize_with = "given")]
    on_failure: Option<Member<OnFailure>>,
}

/// What became of a sample.
#[derive(Serialize, Object)]
pub(in super::super) struct TestResult {
    /// Where an item with this content would go, if no other group judged it.
    status: Member<Status>,
    /// Who or what decides.
    moderation_type: Member<ModerationType>,
    /// `moderation_details` as applications would get them.
    details: Raw<ModerationDetails>,
    /// How it comes to be. For people: its members may change.
    trace: Raw<HashMap<String, Value>>,
    /// What each violation rests on, with nothing masked.
    matches: Vec<TestMatch>,
    /// The scores that the rules were held against; null if there were none.
    #[oai(nullable)]
    scores: Option<Member<Scores>>,
    /// Where they come from: `request`, `providers` or `nowhere`.
    scores_from: String,
    /// Categories that the rules ask for and that have no score.
    unscored: Vec<String>,
}

/// A rule that the sample violates, and why.
#[derive(Serialize, Object)]
struct TestMatch {
    /// The rule.
    rule_id: Uuid,
    /// What it is called.
    rule_name: String,
    /// Its kind.
    rule_type: String,
    /// What it asks for: `reject` or `review`.
    effect: String,
    /// The text that was matched, as it stands in the sample; null for a score.
    #[oai(nullable)]
    matched_text: Option<String>,
    /// On which reading of the text it was found: `original`, `folded` or `loose`; null for a score. More may be added.
    #[oai(nullable)]
    view: Option<String>,
    /// Where it begins, in bytes of the text's UTF-8; null for a score.
    #[oai(nullable)]
    starts_at: Option<u64>,
    /// Where it ends; null for a score.
    #[oai(nullable)]
    ends_at: Option<u64>,
    /// What was scored; null for a text.
    #[oai(nullable)]
    category: Option<String>,
    /// The score; null for a text.
    #[oai(nullable)]
    score: Option<f64>,
    /// The threshold that it reached; null for a text.
    #[oai(nullable)]
    threshold: Option<f64>,
}

/// What a sample is judged by.
struct Sample {
    text: Option<String>,
    scores: Option<Scores>,
    unchecked: Vec<Unchecked>,
    on_failure: OnFailure,
}

pub(crate) struct Tests;

#[OpenApi(tag = "Tag::RuleGroups")]
impl Tests {
    /// Try rules on a sample
    ///
    /// The sample is judged by this group alone: by its draft, one of its versions, or rules of the request. Nothing of it is
    /// stored or logged. The answer tells which rules match, where, on which reading of the text, and at which thresholds.
    #[oai(
        path = "/rule-groups/:rule_group_id/test",
        method = "post",
        operation_id = "testRuleGroup"
    )]
    async fn test_rule_group(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<NewTest>,
    ) -> Result<Json<TestResult>, Refusal> {
        let new = request.value;
        require_content(&new)?;
        let mut session = management.read(&caller, Scope::RulesWrite).await?;
        let group = find(&mut session, rule_group_id.0).await?;
        let rules = match (new.rules, new.version_id) {
            (Some(_), Some(_)) => {
                return Err(Refusal::invalid_field(
                    "version_id",
                    "must not be given together with `rules`",
                ));
            }
            (Some(rules), None) => match rules.into_rules() {
                Ok(rules) => {
                    lists::look_for(&mut session, group.team, &rules).await?;
                    rules
                }
                Err(wrong) => {
                    drop(session);
                    return Err(management
                        .workbench
                        .refuse(Some(group.team), wrong)
                        .await
                        .into());
                }
            },
            (None, Some(version)) => {
                let found = rule_group::version(session.conn(), group.id, version.0).await?;
                found.ok_or_else(|| unknown_version("version_id"))?.rules
            }
            (None, None) => draft(&mut session, group.id).await?.rules,
        };
        drop(session);

        let team = Some(group.team);
        let mut sample = Sample {
            text: new.text.filter(|text| !text.is_empty()),
            scores: new.scores.map(|scores| scores.0),
            unchecked: Vec::new(),
            on_failure: new.on_failure.map_or(OnFailure::Review, |wish| wish.0),
        };
        let mut scores_from = if sample.scores.is_some() {
            "request"
        } else {
            "nowhere"
        };
        let wanted = wanted(&rules);
        if let (None, Some(text), false) = (&sample.scores, &sample.text, wanted.is_empty())
            && let Some(analysed) = management.workbench.analyse(team, text, &wanted).await?
        {
            scores_from = "providers";
            sample.scores = analysed.scores;
            sample.unchecked = analysed.unchecked;
        }
        let judging = move |group: &CompiledGroup| judge(group, sample, scores_from);
        let judged = management
            .workbench
            .with_compiled(team, rules, judging)
            .await?;
        Ok(Json(judged))
    }
}

/// The categories that enabled rules ask for.
fn wanted(rules: &[Rule]) -> Vec<Category> {
    let asks = |category: Category| {
        rules.iter().any(|rule| match &rule.kind {
            RuleKind::AiThreshold(threshold) => rule.enabled && threshold.category == category,
            RuleKind::Keyword(_)
            | RuleKind::Regex(_)
            | RuleKind::Link(_)
            | RuleKind::ImageHash(_) => false,
        })
    };
    let categories = Category::ALL.into_iter();
    categories.filter(|category| asks(*category)).collect()
}

/// Refuses a sample that could not be submitted.
fn require_content(new: &NewTest) -> Result<(), Refusal> {
    let text = new.text.as_deref().unwrap_or_default();
    if text.is_empty() && new.scores.is_none() {
        let message = "is missing: a sample has a text, or scores";
        return Err(Refusal::field(Code::EmptySubmission, "text", message));
    }
    let most = SubmissionLimits::default().text;
    if text.len() > most {
        let message = format!("is {} bytes of UTF-8; the limit is {most}", text.len());
        return Err(Refusal::field(Code::TextTooLarge, "text", message));
    }
    Ok(())
}

fn judge(
    group: &CompiledGroup,
    sample: Sample,
    scores_from: &'static str,
) -> Result<TestResult, Refusal> {
    let Sample {
        text,
        scores,
        unchecked,
        on_failure,
    } = sample;
    let content = Content {
        text: text.as_deref(),
        scores: &scores.unwrap_or_default(),
        image_matches: &[],
    };
    let begun = Instant::now();
    let violations = group.examine(&content);
    let judged = Judged {
        group: group.group(),
        version: group.version(),
        micros: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
    };
    let verdict = decide(Findings {
        groups: vec![judged],
        violations,
        scores,
        wanted: group.categories(),
        gaps: &[],
        text: match (&text, scores.is_some() || group.examines_text()) {
            (None, _) => Part::Absent,
            (Some(_), true) => Part::Examined,
            (Some(_), false) => Part::Unexamined,
        },
        image: Part::Absent,
        unchecked,
        on_failure,
    });
    let written = |error: serde_json::Error| Refusal::from(store::Error::from(error));
    let trace = to_raw_value(&verdict.trace).map_err(written)?;
    let unscored = group.categories().iter().filter(|category| {
        let scores = scores.as_ref();
        scores.is_none_or(|scores| scores.get(**category).is_none())
    });
    let Verdict {
        status,
        moderation_type,
        ..
    } = verdict;
    Ok(TestResult {
        status: Member(status),
        moderation_type: Member(moderation_type),
        details: to_raw_value(&verdict.details(None))
            .map_err(written)?
            .into(),
        trace: without_internals(&trace).map_err(written)?.into(),
        matches: verdict
            .violations
            .iter()
            .map(|violation| TestMatch::new(violation, text.as_deref().unwrap_or_default()))
            .collect(),
        scores: scores.map(Member),
        scores_from: scores_from.to_owned(),
        unscored: unscored.map(Category::to_string).collect(),
    })
}

impl TestMatch {
    fn new(violation: &Violation, text: &str) -> Self {
        let mut told = Self {
            rule_id: violation.rule_id.as_uuid(),
            rule_name: violation.rule_name.clone(),
            rule_type: violation.rule_type.to_string(),
            effect: match violation.effect {
                Effect::Reject => "reject".to_owned(),
                Effect::Review => "review".to_owned(),
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
pub(super) fn described() -> Vec<Operation> {
    let violation = json!({
        "rule_id": example::RULE,
        "rule_name": "Blocked words",
        "rule_type": "keyword",
        "confidence": 1.0,
        "details": "A listed term was found in the text.",
        "matched_text": "b*****************d",
    });
    vec![Operation {
        problems: &[Code::EmptySubmission, Code::TextTooLarge],
        request: Some(json!({
            "text": "so much b.l.o.c.k.e.d word",
            "scores": { "violence": 0.2 },
        })),
        answer: Some(json!({
            "status": "rejected",
            "moderation_type": "rule",
            "details": { "rule_violations": [violation], "ai_analysis": { "violence": 0.2 } },
            "trace": { "groups": [], "evidence": [], "unchecked": [], "unscored": [] },
            "matches": [{
                "rule_id": example::RULE,
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
        ..Operation::new("testRuleGroup", Scope::RulesWrite)
    }]
}
