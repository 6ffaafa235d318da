//! The fields of an endpoint's settings as somebody typed them.

use domain::{event::EventKind, name::Name, webhook::EndpointUrl};
use management::{
    FieldProblem, Refused,
    endpoints::{PerSecond, Settings},
};

use crate::page::{Form, stale_form};

/// The settings as they were typed.
pub(super) struct Typed {
    pub(super) url: String,
    pub(super) description: String,
    pub(super) limit: String,
    /// The kinds of event that the endpoint gets.
    pub(super) events: Vec<EventBox>,
}

/// A kind of event, and its box.
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

/// The settings that were read.
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
            url: String::new(),
            description: String::new(),
            limit: String::new(),
            events: kinds(|_, _| true),
        }
    }

    /// The fields of a form that was sent.
    pub(super) fn sent(form: &Form) -> Self {
        let text = |field| form.get(field).trim().to_owned();
        Self {
            url: text("url"),
            description: text("description"),
            limit: text("max_per_second"),
            events: kinds(|_, field| form.has(field)),
        }
    }

    /// The fields of an endpoint that exists.
    pub(super) fn of(settings: &Settings) -> Self {
        let limit = settings.max_per_second;
        Self {
            url: settings.url.clone(),
            description: settings.description.clone().unwrap_or_default(),
            limit: limit.map_or_else(String::new, |limit| limit.to_string()),
            events: kinds(|kind, _| settings.events.contains(&kind)),
        }
    }

    /// A digest of all of them.
    pub(super) fn seen(&self) -> String {
        let Self {
            url,
            description,
            limit,
            events,
        } = self;
        let chosen = events.iter().filter(|kind| kind.is_chosen);
        let single = [url.as_str(), description, limit];
        stale_form::digest(
            single
                .into_iter()
                .chain(chosen.map(|kind| kind.field.as_str())),
        )
    }

    /// # Errors
    /// All fields that are wrong by themselves.
    pub(super) fn read(&self) -> Result<Read, Refused> {
        let mut wrong = Wrong::default();
        let url = wrong.unless("url", self.url.parse::<EndpointUrl>());
        let description = (!self.description.is_empty()).then(|| {
            let name = self.description.parse::<Name>();
            wrong.unless("description", name)
        });
        let limit = (!self.limit.is_empty())
            .then(|| wrong.unless("max_per_second", self.limit.parse::<PerSecond>()));
        let chosen = self.events.iter().filter(|kind| kind.is_chosen);
        let events = chosen.map(|kind| kind.kind).collect();
        match (url, wrong.0.is_empty()) {
            (Some(url), true) => Ok(Read {
                url,
                events,
                description: description.flatten(),
                limit: limit.flatten(),
            }),
            _ => Err(Refused::fields(wrong.0)),
        }
    }
}

#[derive(Default)]
struct Wrong(Vec<FieldProblem>);

impl Wrong {
    fn unless<T, E: std::fmt::Display>(&mut self, field: &str, read: Result<T, E>) -> Option<T> {
        let note = |error: E| {
            self.0.push(FieldProblem {
                field: field.to_owned(),
                message: error.to_string(),
                position: None,
            });
        };
        read.map_err(note).ok()
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
