//! A trial of a group's draft beside its live version, on the same sample.

use domain::{
    id::RuleGroupId,
    media::OnFailure,
    rules::CompiledGroup,
    scope::Scope,
    score::{Category, Scores},
};

use super::{
    Asked, NewTrial, Trial,
    judge::{judge, require_content, wanted},
    sample,
};
use crate::{
    Caller, Management, Refused,
    rule_groups::{drafts::draft, find, named_version},
};

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
pub async fn beside_live(
    management: &Management,
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
    let mut session = management.read(caller, Scope::RulesWrite).await?;
    let group = find(&mut session, group).await?;
    let draft = draft(&mut session, group.id).await?;
    let live = if draft.edited {
        let live = named_version(&mut session, group.id, group.live, "version_id").await?;
        Some(live.rules)
    } else {
        None
    };
    session.end();

    let (trial_pool, team) = (&management.trial_pool, Some(group.team));
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
