//! The texts of a form of settings: as they are stored, or as somebody typed them.

use std::{fmt::Display, str::FromStr};

use super::{form::Form, problems::Problems};

/// Texts by the names of their fields, in the order of the form.
pub(crate) struct Texts(Vec<(&'static str, String)>);

impl Texts {
    /// What is stored.
    pub(crate) fn stored<const N: usize>(texts: [(&'static str, String); N]) -> Self {
        Self(texts.into())
    }

    /// What was sent in these fields, without white space around it.
    pub(crate) fn sent(form: &Form, fields: &[&'static str]) -> Self {
        let texts = fields.iter();
        Self(
            texts
                .map(|field| (*field, form.get(field).trim().to_owned()))
                .collect(),
        )
    }

    /// Puts another text into a field.
    pub(crate) fn set(&mut self, field: &str, text: impl Into<String>) {
        let mut texts = self.0.iter_mut();
        if let Some((_, known)) = texts.find(|(known, _)| *known == field) {
            *known = text.into();
        }
    }

    /// The same with another text in a field.
    pub(crate) fn with(mut self, field: &str, text: &str) -> Self {
        self.set(field, text);
        self
    }

    /// The text of a field.
    pub(crate) fn get(&self, field: &str) -> &str {
        let mut texts = self.0.iter();
        texts
            .find(|(known, _)| *known == field)
            .map_or("", |(_, text)| text)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, text)| text.as_str())
    }

    /// Those that are not empty, with their fields.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let texts = self.0.iter().filter(|(_, text)| !text.is_empty());
        texts.map(|(field, text)| (*field, text.as_str()))
    }

    /// A value that must be given.
    pub(crate) fn must<T: FromStr<Err: Display>>(
        &self,
        wrong: &mut Problems,
        field: &str,
    ) -> Option<T> {
        wrong.kept(field, self.get(field).parse())
    }

    /// A value that may be missing.
    #[expect(clippy::option_option, reason = "no value is valid, too")]
    pub(crate) fn may<T: FromStr<Err: Display>>(
        &self,
        wrong: &mut Problems,
        field: &str,
    ) -> Option<Option<T>> {
        if self.get(field).is_empty() {
            return Some(None);
        }
        self.must(wrong, field).map(Some)
    }

    /// A value that is chosen from a list.
    pub(crate) fn one_of<T: FromStr>(&self, wrong: &mut Problems, field: &str) -> Option<T> {
        let chosen = self.get(field).parse();
        wrong.kept(field, chosen.map_err(|_| "must be one of the choices"))
    }
}
