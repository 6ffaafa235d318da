//! A link that is shown once, to be handed over.

use askama::Template;
use chrono::{DateTime, Utc};
use domain::key::LinkSecret;
use poem::Response;

use crate::{
    origin,
    page::{self, Area, Frame},
    request::PageRequest,
    time::Moment,
};

#[derive(Template)]
#[template(path = "people/one_time_link.html")]
struct Shown<'a> {
    frame: Frame,
    at: Area,
    title: &'a str,
    text: &'a str,
    url: String,
    until: Moment,
    /// Where to go on.
    back: (String, &'a str),
}

/// The page with the link. It is the answer itself and has no address, so it cannot be opened again.
pub(super) fn shown(
    request: &PageRequest,
    frame: Frame,
    at: Area,
    (title, text): (&str, &str),
    (secret, until): (&LinkSecret, DateTime<Utc>),
    back: (String, &str),
) -> Response {
    page::shown(&Shown {
        frame,
        at,
        title,
        text,
        url: origin::link(request.origin(), secret),
        until: until.into(),
        back,
    })
}
