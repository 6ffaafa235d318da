//! Try rules on a sample. Nothing of it is stored, and nothing of it is logged.

mod comparison;
mod judge;

use domain::{
    id::{GroupVersionId, RuleGroupId},
    media::{ModerationType, OnFailure, Status},
    rules::{CompiledGroup, InputRules, Violation},
    scope::Scope,
    score::{Category, Scores},
};
use serde_json::value::RawValue;

use super::{drafts::draft, find, hash_lists, named_version};
use crate::{
    Caller, Management, Refused, TrialPool,
    trial_pool::{Holder, with_ids},
};
use judge::{Sample, judge, require_content, wanted};

pub use comparison::{Comparison, beside_live};

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
pub async fn run(
    management: &Management,
    caller: &Caller,
    group: RuleGroupId,
    new: NewTrial,
) -> Result<Trial, Refused> {
    require_content(&new)?;
    let mut session = management.read(caller, Scope::RulesWrite).await?;
    let group = find(&mut session, group).await?;
    let (trial_pool, team) = (&management.trial_pool, Some(group.team));
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
