//! Which categories a provider scores, in texts and in images.

use anyhow::{bail, ensure};
use domain::{media::Modality, score::Category};
use workers::provider::{Scope, Style};

use super::Entry;

impl Entry {
    /// What it scores: the named categories, or all that it can score in its modalities.
    pub(super) fn scope(&self, style: Option<&Style>) -> anyhow::Result<Scope> {
        let usual = self.kind.usual_modalities();
        let modalities = self.modalities.as_deref().unwrap_or(usual);
        ensure!(!modalities.is_empty(), "its modalities are empty");
        ensure!(
            self.categories.is_some() || !self.kind.is_taught(style),
            "it needs its categories"
        );
        let can = |modality: Modality| {
            let looks = modalities.contains(&modality);
            let can = self.kind.can_score(modality, style);
            if looks { can } else { &[] }
        };
        if let Some(named) = &self.categories {
            ensure!(!named.is_empty(), "its categories are empty");
            let cannot = |c: &&Category| Modality::ALL.iter().all(|m| !can(*m).contains(c));
            if let Some(other) = named.iter().find(cannot) {
                bail!("it cannot score {other}");
            }
        }
        let wanted = |category: &Category| {
            let named = self.categories.as_ref();
            named.is_none_or(|named| named.contains(category))
        };
        let scored = |modality: Modality| {
            let all = Category::ALL.into_iter().filter(wanted);
            all.filter(|category| can(modality).contains(category))
                .collect()
        };
        let scope = Scope {
            text: scored(Modality::Text),
            image: scored(Modality::Image),
        };
        let named = self.modalities.iter().flatten();
        if let Some(idle) = named.copied().find(|named| scope.of(*named).is_empty()) {
            bail!("it cannot score anything in its modality {idle}");
        }
        Ok(scope)
    }
}
