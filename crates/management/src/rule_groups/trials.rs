//! Try rules on a sample. Nothing of it is stored, and nothing of it is logged.

use std::time::Instant;

use domain::{
    decision::{Findings, Judged, Part, Unchecked, Verdict, decide},
    id::{GroupVersionId, RuleGroupId},
    media::{ModerationType, OnFailure, Status},
    rules::{CompiledGroup, Content, InputRules, Rule, RuleKind, Violation},
    scope::Scope,
    score::{Category, Scores},
    submission::{Fault, SubmissionLimits},
};
use serde_json::value::{RawValue, to_raw_value};

use super::{drafts::draft, find, hash_lists, named_version};
use crate::{
    Caller, FieldFault, Refused, TrialPool, boxed,
    trial_pool::{Holder, with_ids},
};

/// A sample, and the rules that judge it.
#[derive(Debug)]
pub struct NewTrial {
    /// The text, as it would be submitted.
    pub text: Option<String>,
    /// The sample's scores. Without them, the providers are asked, if the rules need scores and this process knows
    /// providers.
    pub scores: Option<Scores>,
    /// Whether the providers are asked for scores that are not given.
    pub ask: bool,
    /// A version of the group whose rules judge. Without it, and without `rules`, the draft judges.
    pub version: Option<GroupVersionId>,
    /// Rules that judge instead of the group's.
    pub rules: Option<InputRules>,
    /// What happens to content that cannot be checked.
    pub on_failure: OnFailure,
}

/// The result of a trial.
#[derive(Debug)]
pub struct Trial {
    /// The status of an item with this content, if no other group judged it.
    pub status: Status,
    /// Who or what decides.
    pub moderation_type: ModerationType,
    /// [`domain::decision::ModerationDetails`] as applications would get them.
    pub details: Box<RawValue>,
    /// How the verdict came about, with details of provider failures. These can reveal addresses in
    /// our network.
    pub trace: Box<RawValue>,
    /// Why it is not approved, or approved although something could not be checked, in a sentence. `None` if there is nothing to
    /// say.
    pub reason: Option<String>,
    /// The rules that the sample violates, and why.
    pub violations: Vec<Violation>,
    /// The text that was tried.
    pub text: Option<String>,
    /// The scores that the rules were compared with.
    pub scores: Option<Scores>,
    /// Where the scores come from.
    pub scores_from: ScoresFrom,
    /// Categories that the rules ask for and that have no score.
    pub unscored: Vec<Category>,
}

/// Where the scores of a sample come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoresFrom {
    /// The request.
    Request,
    /// The providers.
    Providers,
    /// There are no scores.
    Nowhere,
}

impl ScoresFrom {
    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Providers => "providers",
            Self::Nowhere => "nowhere",
        }
    }
}

/// Tries rules on a sample: a group's draft, one of its versions, or other rules.
///
/// # Errors
/// The sample could not be submitted; the caller may not do it; there is no such group within reach; it has no such version;
/// the rules do not compile or name hash lists that the team cannot use; too many texts are being analysed.
#[boxed]
pub async fn run(caller: &Caller, group: RuleGroupId, new: NewTrial) -> Result<Trial, Refused> {
    require_content(&new)?;
    let mut session = caller.read(Scope::RulesWrite).await?;
    let group = find(&mut session, group).await?;
    let (trial_pool, team) = (&caller.management.trial_pool, Some(group.team));
    let rules = match (new.rules, new.version) {
        (Some(_), Some(_)) => {
            let message = "must not be given together with `rules`";
            return Err(Refused::field("version_id", message));
        }
        (Some(given), None) => match with_ids(given) {
            Ok(rules) => {
                hash_lists::look_for(&mut session, group.team, &rules).await?;
                rules
            }
            Err(wrong) => {
                session.end();
                return Err(trial_pool.refuse(team, wrong).await);
            }
        },
        (None, Some(version)) => {
            let version = named_version(&mut session, group.id, version, "version_id").await?;
            version.rules
        }
        (None, None) => draft(&mut session, group.id).await?.rules,
    };
    session.end();

    let asked = Asked {
        text: new.text,
        scores: new.scores,
        ask: new.ask,
        on_failure: new.on_failure,
    };
    let sample = sample(trial_pool, team, asked, &wanted(&rules)).await?;
    let judging = move |group: &CompiledGroup| judge(group, sample);
    trial_pool.with_compiled(team, rules, judging).await
}

/// What is known of a sample before the providers are asked.
struct Asked {
    text: Option<String>,
    scores: Option<Scores>,
    ask: bool,
    on_failure: OnFailure,
}

/// The sample that rules judge. The providers are asked for these categories, if they are to be asked at all.
async fn sample(
    trial_pool: &TrialPool,
    team: Holder,
    asked: Asked,
    wanted: &[Category],
) -> Result<Sample, Refused> {
    let mut sample = Sample {
        text: asked.text.filter(|text| !text.is_empty()),
        scores: asked.scores,
        scores_from: match asked.scores {
            Some(_) => ScoresFrom::Request,
            None => ScoresFrom::Nowhere,
        },
        unchecked: Vec::new(),
        on_failure: asked.on_failure,
    };
    let asks = asked.ask && !wanted.is_empty();
    if let (None, Some(text), true) = (&sample.scores, &sample.text, asks)
        && let Some(analysed) = trial_pool.analyse(team, text, wanted).await?
    {
        sample.scores_from = ScoresFrom::Providers;
        sample.scores = analysed.scores;
        sample.unchecked = analysed.unchecked;
    }
    Ok(sample)
}

/// What the draft and the live version say about a sample.
#[derive(Debug)]
pub struct Comparison {
    /// What the draft says. Without a draft, what the live version says.
    pub draft: Trial,
    /// What the live version says, if there is a draft.
    pub live: Option<Trial>,
    /// The categories that the rules of either ask for.
    pub wanted: Vec<Category>,
}

/// Tries a text on a group's draft and on its live version. The providers are asked once for both, if they are to be asked at all.
///
/// # Errors
/// The text could not be submitted; the caller may not do it; there is no such group within reach; the rules do not compile any
/// more; too many texts are being analysed.
#[boxed]
pub async fn beside_live(
    caller: &Caller,
    group: RuleGroupId,
    text: String,
    scores: Option<Scores>,
    ask: bool,
) -> Result<Comparison, Refused> {
    let on_failure = OnFailure::Review;
    let new = NewTrial {
        text: Some(text),
        scores,
        ask,
        version: None,
        rules: None,
        on_failure,
    };
    require_content(&new)?;
    let mut session = caller.read(Scope::RulesWrite).await?;
    let group = find(&mut session, group).await?;
    let draft = draft(&mut session, group.id).await?;
    let live = if draft.edited {
        let live = named_version(&mut session, group.id, group.live, "version_id").await?;
        Some(live.rules)
    } else {
        None
    };
    session.end();

    let (trial_pool, team) = (&caller.management.trial_pool, Some(group.team));
    let of_either = [
        wanted(&draft.rules),
        live.as_deref().map_or_else(Vec::new, wanted),
    ];
    let asked_for = |category: &Category| of_either.iter().any(|of| of.contains(category));
    let wanted: Vec<Category> = Category::ALL.into_iter().filter(asked_for).collect();
    let asked = Asked {
        text: new.text,
        scores,
        ask,
        on_failure,
    };
    let sample = sample(trial_pool, team, asked, &wanted).await?;
    let same = sample.clone();
    let judging = move |group: &CompiledGroup| judge(group, sample);
    let draft = trial_pool.with_compiled(team, draft.rules, judging).await?;
    let live = match live {
        Some(rules) => {
            let judging = move |group: &CompiledGroup| judge(group, same);
            Some(trial_pool.with_compiled(team, rules, judging).await?)
        }
        None => None,
    };
    Ok(Comparison {
        draft,
        live,
        wanted,
    })
}

/// Refuses a sample that could not be submitted.
fn require_content(new: &NewTrial) -> Result<(), Refused> {
    let wrong = |fault, message: String| {
        let fault = FieldFault::Submission(fault);
        Err(Refused::field_of(fault, "text", message))
    };
    let text = new.text.as_deref().unwrap_or_default();
    if text.is_empty() && new.scores.is_none() {
        let message = "is missing: a sample has a text, or scores";
        return wrong(Fault::EmptySubmission, message.to_owned());
    }
    let most = SubmissionLimits::default().text;
    if text.len() > most {
        let message = format!("is {} bytes of UTF-8; the limit is {most}", text.len());
        return wrong(Fault::TextTooLarge, message);
    }
    Ok(())
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

fn judge(group: &CompiledGroup, sample: Sample) -> Result<Trial, Refused> {
    let Sample {
        text,
        scores,
        scores_from,
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
    let unscored = group.categories().iter().copied().filter(|category| {
        let scores = scores.as_ref();
        scores.is_none_or(|scores| scores.get(*category).is_none())
    });
    let details = to_raw_value(&verdict.details(None)).map_err(store::Error::from)?;
    let trace = to_raw_value(&verdict.trace).map_err(store::Error::from)?;
    let Verdict {
        status,
        moderation_type,
        violations,
        reason,
        ..
    } = verdict;
    Ok(Trial {
        status,
        moderation_type,
        details,
        trace,
        reason,
        violations,
        scores,
        scores_from,
        unscored: unscored.collect(),
        text,
    })
}

/// The content that rules judge.
#[derive(Clone)]
struct Sample {
    text: Option<String>,
    scores: Option<Scores>,
    scores_from: ScoresFrom,
    unchecked: Vec<Unchecked>,
    on_failure: OnFailure,
}
