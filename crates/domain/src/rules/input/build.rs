//! Makes a rule from its members, and checks what each member holds.

use uuid::Uuid;

use super::InputRule;
use super::member::{InputValue, List};
use crate::id::HashListId;
use crate::rules::error::Place;

/// A rule that is being made from its members.
pub(super) struct Reading {
    pub(super) rule: InputRule,
    pub(super) input: Vec<(&'static str, InputValue, Option<Place>)>,
}

const LIST: &str = "a list of strings";

impl Reading {
    pub(super) fn read_common(&mut self) {
        self.rule.id = match self.take("id") {
            None | Some(InputValue::Null) => None,
            Some(InputValue::Text(text)) => match text.parse::<Uuid>() {
                Ok(id) => Some(id.into()),
                Err(_) => self.refuse("id", "must be a UUID"),
            },
            Some(_) => self.refuse("id", "must be a UUID, as a string"),
        };
        self.rule.name = self.text("name");
        self.rule.enabled = match self.take("enabled") {
            None => true,
            Some(InputValue::Bool(enabled)) => enabled,
            Some(_) => {
                self.rule
                    .add_fault("enabled", "must be true or false", None);
                true
            }
        };
        if let Some(exceptions) = self.take("exceptions") {
            self.rule.exceptions = self.texts("exceptions", exceptions);
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.input.iter().any(|(known, ..)| *known == name)
    }

    fn take(&mut self, name: &str) -> Option<InputValue> {
        let at = self.input.iter().position(|(known, ..)| *known == name)?;
        Some(self.input.swap_remove(at).1)
    }

    fn refuse<T>(&mut self, name: &str, message: &str) -> Option<T> {
        self.rule.add_fault(name, message, None);
        None
    }

    /// A member that must be one of a few names. `None`, and a mistake, if it is missing or
    /// something else.
    pub(super) fn one_of<T: Copy>(
        &mut self,
        name: &'static str,
        allowed: &[(&str, T)],
    ) -> Option<T> {
        let input = self.take(name);
        if let Some(InputValue::Text(text)) = &input
            && let Some((_, value)) = allowed.iter().find(|(known, _)| known == text)
        {
            return Some(*value);
        }
        let names: Vec<String> = allowed
            .iter()
            .map(|(known, _)| format!("`{known}`"))
            .collect();
        self.required(
            name,
            input.is_none(),
            &format!("one of {}", names.join(", ")),
        );
        None
    }

    /// A member that must be a text. If it is not, an empty text stands in for it.
    pub(super) fn text(&mut self, name: &'static str) -> String {
        let input = self.take(name);
        if let Some(InputValue::Text(text)) = input {
            return text;
        }
        let expected = match &input {
            Some(InputValue::Bool(_) | InputValue::Number(_)) => "a string, in quotes",
            _ => "a string",
        };
        self.required(name, input.is_none(), expected);
        String::new()
    }

    pub(super) fn required_texts(&mut self, name: &'static str) -> Vec<String> {
        if let Some(input) = self.take(name) {
            self.texts(name, input)
        } else {
            self.required(name, true, LIST);
            Vec::new()
        }
    }

    fn texts(&mut self, name: &'static str, input: InputValue) -> Vec<String> {
        let InputValue::List(List { texts, wrong }) = input else {
            self.required(name, false, LIST);
            return Vec::new();
        };
        for (at, place) in wrong {
            self.rule.add_fault(
                format!("{name}[{at}]"),
                "must be a string, in quotes",
                place,
            );
        }
        texts
    }

    /// The hash list at a place. Each wrong one is replaced by a different id, so that none is
    /// listed twice.
    pub(super) fn list(&mut self, at: usize, text: &str) -> HashListId {
        let list = text.parse::<Uuid>().unwrap_or_else(|_| {
            let field = format!("lists[{at}]");
            if self.rule.errors.iter().all(|fault| fault.field != field) {
                self.rule.add_fault(field, "must be a UUID", None);
            }
            Uuid::from_u128(at as u128)
        });
        list.into()
    }

    /// A threshold. A wrong one is replaced by a value that causes no other mistake.
    pub(super) fn threshold(&mut self, name: &'static str, otherwise: f64) -> Option<f64> {
        match self.take(name)? {
            InputValue::Null => None,
            InputValue::Number(number) => Some(number),
            InputValue::Bool(_)
            | InputValue::Text(_)
            | InputValue::List(_)
            | InputValue::Object => {
                self.rule
                    .add_fault(name, "must be a number from 0 to 1", None);
                Some(otherwise)
            }
        }
    }

    fn required(&mut self, name: &'static str, is_missing: bool, expected: &str) {
        let message = if is_missing {
            format!("is missing: it must be {expected}")
        } else {
            format!("must be {expected}")
        };
        self.rule.add_fault(name, message, None);
    }
}
