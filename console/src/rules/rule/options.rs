//! Closed sets in the form of a rule: how their members are called there.

use domain::{
    id::HashListId,
    rules::{Bare, LinkPolicy, Matching, RuleEffect},
    score::Category,
};

use crate::page::{Problems, Texts};

/// A closed set.
pub(super) trait Named: Copy + 'static {
    const ALL: &'static [Self];

    fn name(&self) -> &'static str;
}

macro_rules! named {
    ($($set:ident { $($member:ident = $name:literal),+ })+) => {$(
        impl Named for $set {
            const ALL: &'static [Self] = &[$(Self::$member),+];

            fn name(&self) -> &'static str {
                match self { $(Self::$member => $name),+ }
            }
        }
    )+};
}

named! {
    RuleEffect { Review = "review", Reject = "reject" }
    Matching { WholeWord = "whole_word", Substring = "substring" }
    LinkPolicy { Deny = "deny", Allow = "allow" }
    Bare { Likely = "likely", Any = "any", None = "none" }
}

impl Named for Category {
    const ALL: &'static [Self] = &Self::ALL;

    fn name(&self) -> &'static str {
        self.as_str()
    }
}

/// Reads fields, and collects those that cannot be read.
pub(super) struct Reading<'a> {
    texts: &'a Texts,
    pub(super) problems: Problems,
}

impl<'a> Reading<'a> {
    pub(super) fn of(texts: &'a Texts) -> Self {
        Self {
            texts,
            problems: Problems::default(),
        }
    }

    /// A choice. The first one stands in for what is none.
    pub(super) fn one_of<T: Named>(&mut self, field: &str) -> T {
        let text = self.texts.get(field);
        let found = T::ALL.iter().find(|choice| choice.name() == text);
        if found.is_none() {
            self.problems.add(field, "must be one of the choices");
        }
        *found.unwrap_or(&T::ALL[0])
    }

    /// A threshold. Empty: none.
    pub(super) fn threshold(&mut self, field: &str) -> Option<f64> {
        let text = self.texts.get(field).trim();
        if text.is_empty() {
            return None;
        }
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        if number.is_none() {
            self.problems
                .add(field, "must be a number from 0 to 1, such as 0.8");
        }
        number
    }

    /// Hash lists, by their ids.
    pub(super) fn lists(&mut self, ids: &[String]) -> Vec<HashListId> {
        let read: Vec<HashListId> = ids.iter().filter_map(|id| id.parse().ok()).collect();
        if read.len() < ids.len() {
            self.problems.add("lists", "must be hash lists");
        }
        read
    }
}
