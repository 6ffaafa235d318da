//! The fields of an endpoint's settings as somebody typed them.

use domain::{
    event::EventKind,
    name::Name,
    webhook::{CustomHeader, EndpointUrl},
};
use management::{
    FieldProblem, Refused,
    endpoints::{NewHeader, PerSecond, Settings},
};

use crate::page::{Form, Problems, Texts, stale_form};

pub(super) struct Typed {
    pub(super) texts: Texts,
    /// The kinds of event that the endpoint gets.
    pub(super) events: Vec<EventBox>,
}

pub(super) struct EventBox {
    /// The name of the box.
    pub(super) field: String,
    pub(super) kind: EventKind,
    pub(super) is_chosen: bool,
}

/// All kinds of event, those chosen that are wanted.
fn kinds(is_wanted: impl Fn(EventKind, &str) -> bool) -> Vec<EventBox> {
    let kinds = EventKind::ALL.iter().map(|kind| {
        let field = format!("event-{kind}");
        EventBox {
            is_chosen: is_wanted(*kind, &field),
            field,
            kind: *kind,
        }
    });
    kinds.collect()
}

pub(super) struct Read {
    pub(super) url: EndpointUrl,
    pub(super) events: Vec<EventKind>,
    pub(super) description: Option<Name>,
    pub(super) limit: Option<PerSecond>,
}

impl Typed {
    /// The fields of an empty form: all events.
    pub(super) fn empty() -> Self {
        Self {
            texts: Texts::stored([]),
            events: kinds(|_, _| true),
        }
    }

    pub(super) fn sent(form: &Form) -> Self {
        Self {
            texts: Texts::sent(form, &["url", "description", "max_per_second"]),
            events: kinds(|_, field| form.has(field)),
        }
    }

    /// The fields of an endpoint that exists.
    pub(super) fn of(settings: &Settings) -> Self {
        let description = settings.description.clone().unwrap_or_default();
        let limit = settings.max_per_second.map(|limit| limit.to_string());
        Self {
            texts: Texts::stored([
                ("url", settings.url.clone()),
                ("description", description),
                ("max_per_second", limit.unwrap_or_default()),
            ]),
            events: kinds(|kind, _| settings.events.contains(&kind)),
        }
    }

    /// A digest of all of them.
    pub(super) fn seen(&self) -> String {
        let chosen = self.events.iter().filter(|kind| kind.is_chosen);
        let boxes = chosen.map(|kind| kind.field.as_str());
        stale_form::digest(self.texts.all().chain(boxes))
    }

    /// `Err`: all fields that are wrong by themselves.
    pub(super) fn read(&self) -> Result<Read, Refused> {
        let mut wrong = Problems::default();
        let url = self.texts.must(&mut wrong, "url");
        let description = self.texts.may(&mut wrong, "description");
        let limit = self.texts.may(&mut wrong, "max_per_second");
        let chosen = self.events.iter().filter(|kind| kind.is_chosen);
        match (url, description, limit) {
            (Some(url), Some(description), Some(limit)) => Ok(Read {
                url,
                events: chosen.map(|kind| kind.kind).collect(),
                description,
                limit,
            }),
            _ => Err(wrong.into_refused()),
        }
    }
}

/// Both, or all fields that are wrong in either.
pub(super) fn both<A, B>(
    one: Result<A, Refused>,
    other: Result<B, Refused>,
) -> Result<(A, B), Refused> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(Refused::Fields(one)), Err(Refused::Fields(other))) => {
            let problems = one.problems.into_iter().chain(other.problems);
            Err(Refused::fields(problems.collect()))
        }
        (Err(refused), _) | (_, Err(refused)) => Err(refused),
    }
}

/// The headers that somebody typed, one in a line: `Name: value`.
/// `Err`: the lines that are wrong, each with its number.
pub(super) fn read_headers(text: &str) -> Result<Vec<NewHeader>, Refused> {
    let (mut headers, mut problems) = (Vec::new(), Vec::new());
    let lines = text.lines().zip(1..);
    for (line, number) in lines.filter(|(line, _)| !line.trim().is_empty()) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let (name, value) = (name.trim(), value.trim());
        match CustomHeader::new(name, value) {
            Ok(_) => headers.push(NewHeader {
                name: name.to_owned(),
                value: value.to_owned(),
            }),
            // The message never repeats the value, which may be a secret.
            Err(wrong) if problems.len() < 20 => problems.push(FieldProblem {
                field: "headers".to_owned(),
                message: format!("line {number}: {wrong}"),
                position: None,
            }),
            Err(_) => {}
        }
    }
    if problems.is_empty() {
        Ok(headers)
    } else {
        Err(Refused::fields(problems))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_lines_and_a_wrong_one_is_named_without_its_value() {
        let headers = read_headers("Authorization: Bearer a:b\n\n  X-Key :1  \n").unwrap();
        let found: Vec<(&str, &str)> = headers
            .iter()
            .map(|header| (header.name.as_str(), header.value.as_str()))
            .collect();
        assert_eq!(found, [("Authorization", "Bearer a:b"), ("X-Key", "1")]);
        let Err(Refused::Fields(fields)) = read_headers("\nHost: secret\nonly a name") else {
            panic!("two lines are wrong");
        };
        let messages: Vec<&str> = fields
            .problems
            .iter()
            .map(|problem| problem.message.as_str())
            .collect();
        assert!(messages[0].starts_with("line 2: "), "{messages:?}");
        assert!(messages[1].starts_with("line 3: "), "{messages:?}");
        assert!(!messages.concat().contains("secret"));
    }
}
