//! The cost of providers as metrics, and in the [`CostCounter`] that is stored: requests, pieces of texts,
//! and the tokens and units that providers report.

use std::{
    collections::BTreeMap,
    mem,
    sync::{Arc, Mutex},
};

use domain::media::Modality;
use metrics::{Counter, counter};
use serde_json::Value;

use super::Profile;
use crate::lock;

/// A larger number in one answer is a mistake of the server and is not counted.
const MOST: u64 = 10_000_000;

/// What is counted, as `provider_costs` names it, and how many.
pub(super) type Amounts = BTreeMap<&'static str, u64>;

/// What one provider cost since it was last stored: requests, tokens and units. Stored once a minute, and when the process stops.
#[derive(Debug, Default)]
pub(super) struct CostCounter(Mutex<Amounts>);

impl CostCounter {
    /// Counts more.
    pub(super) fn add(&self, what: &'static str, amount: u64) {
        if amount > 0 {
            let mut amounts = lock(&self.0);
            let count = amounts.entry(what).or_default();
            *count = count.saturating_add(amount);
        }
    }

    /// Takes all counts, to store them.
    pub(super) fn take(&self) -> Amounts {
        mem::take(&mut *lock(&self.0))
    }

    /// Counts again what could not be stored.
    pub(super) fn put_back(&self, amounts: Amounts) {
        for (what, amount) in amounts {
            self.add(what, amount);
        }
    }
}

/// Where an answer tells its cost, as JSON pointers, and what each number counts.
pub(super) type Usage = &'static [(&'static str, Cost)];

/// What is counted by a number in an answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cost {
    /// Tokens of the question.
    Input,
    /// Tokens of the answer.
    Output,
    /// Units that the provider charges, with their name.
    Units(&'static str),
}

impl Cost {
    /// As it is stored.
    fn name(self) -> &'static str {
        match self {
            Self::Input => "input_tokens",
            Self::Output => "output_tokens",
            Self::Units(unit) => unit,
        }
    }
}

/// The numbers of servers with OpenAI's chat interface. Mistral's moderation may return them, too.
pub(super) const TOKENS: Usage = &[
    ("/usage/prompt_tokens", Cost::Input),
    ("/usage/completion_tokens", Cost::Output),
];

/// The outcome for a piece of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece {
    /// It was shown to the provider.
    Asked,
    /// It was not shown again, because the answer of an earlier run was kept.
    Kept,
    /// Showing it failed, because of an error or a limit. It will be shown again.
    Repeated,
}

/// The outcome of a lookup of an earlier answer to an equal text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lookup {
    /// There was one.
    Hit,
    /// There was none.
    Miss,
    /// The lookup failed, and the provider was asked.
    Failed,
}

/// Sets all counters of a provider to 0. Otherwise Prometheus would not see the first increase.
pub(super) fn show(provider: &str, told: Usage) {
    for modality in Modality::ALL {
        requests(provider, *modality).increment(0);
    }
    for what in [Piece::Asked, Piece::Kept, Piece::Repeated] {
        pieces(provider, what).increment(0);
    }
    for outcome in [Lookup::Hit, Lookup::Miss, Lookup::Failed] {
        lookups(provider, outcome).increment(0);
    }
    for cost in [Cost::Input, Cost::Output] {
        spent(provider, cost).increment(0);
    }
    for (_, cost) in told {
        spent(provider, *cost).increment(0);
    }
}

/// Counts the cost that an answer tells, even if the answer is not usable.
pub(super) fn count(profile: &Profile, body: &[u8]) {
    if profile.told.is_empty() {
        return;
    }
    let Ok(answer) = serde_json::from_slice::<Value>(body) else {
        return;
    };
    for (place, cost) in profile.told {
        let number = answer.pointer(place).and_then(Value::as_u64);
        if let Some(number) = number.filter(|number| *number <= MOST) {
            spent(&profile.name, *cost).increment(number);
            profile.cost_counter.add(cost.name(), number);
        }
    }
}

/// A request, which is counted when it ends, whatever the outcome.
pub(super) struct Request {
    /// None if it was never sent.
    counted: Option<(Counter, Arc<CostCounter>, &'static str)>,
}

impl Request {
    /// A request that is about to be sent.
    pub(super) fn begin(profile: &Profile, modality: Modality) -> Self {
        let what = match modality {
            Modality::Text => "text_requests",
            Modality::Image => "image_requests",
        };
        let counter = requests(&profile.name, modality);
        Self {
            counted: Some((counter, Arc::clone(&profile.cost_counter), what)),
        }
    }

    /// It was never sent.
    pub(super) fn forget(mut self) {
        self.counted = None;
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if let Some((counter, cost_counter, what)) = &self.counted {
            counter.increment(1);
            cost_counter.add(what, 1);
        }
    }
}

fn requests(provider: &str, modality: Modality) -> Counter {
    counter!(
        "gatehouse_provider_requests_total",
        "provider" => provider.to_owned(), "modality" => modality.as_str()
    )
}

/// The counter of pieces.
pub(super) fn pieces(provider: &str, what: Piece) -> Counter {
    let what = match what {
        Piece::Asked => "asked",
        Piece::Kept => "kept",
        Piece::Repeated => "repeated",
    };
    counter!(
        "gatehouse_provider_pieces_total",
        "provider" => provider.to_owned(), "what" => what
    )
}

/// The counter of lookups of earlier answers.
pub(super) fn lookups(provider: &str, outcome: Lookup) -> Counter {
    let outcome = match outcome {
        Lookup::Hit => "hit",
        Lookup::Miss => "miss",
        Lookup::Failed => "failed",
    };
    counter!(
        "gatehouse_provider_cache_total",
        "provider" => provider.to_owned(), "outcome" => outcome
    )
}

fn spent(provider: &str, cost: Cost) -> Counter {
    let provider = provider.to_owned();
    match cost {
        Cost::Input => {
            counter!("gatehouse_provider_tokens_total", "provider" => provider, "kind" => "input")
        }
        Cost::Output => {
            counter!("gatehouse_provider_tokens_total", "provider" => provider, "kind" => "output")
        }
        Cost::Units(unit) => {
            counter!("gatehouse_provider_units_total", "provider" => provider, "unit" => unit)
        }
    }
}
