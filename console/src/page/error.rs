//! Errors as pages: why a page was not shown or a change was not made.

use askama::Template;
use http_server::{BodyFault, Fault};
use management::Refused;
use poem::{
    IntoResponse, Response,
    http::{StatusCode, header},
};
use tracing::error;

use super::HTML;

/// Why there is no such answer as was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    /// A use case refused it.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// There is no such page, or the person may not know of it.
    #[error("no such page")]
    NoSuchPage,
    /// The form was sent by another site.
    #[error("sent by another site")]
    Foreign,
    /// A picture was asked for other than as a part of a page of ours.
    #[error("shown only in its page")]
    NotAlone,
    /// What was sent is no form.
    #[error("no form")]
    NotAForm,
    /// A text has U+0000.
    #[error("a text that cannot be stored")]
    Unstorable,
    /// The form was not read.
    #[error(transparent)]
    Body(#[from] BodyFault),
    /// The server answers in place of a page.
    #[error("no page")]
    Fault(Fault),
}

/// A page with nothing but a message.
#[derive(Template)]
#[template(path = "message.html")]
pub(crate) struct Message<'a> {
    pub(crate) title: &'a str,
    pub(crate) text: &'a str,
    /// Where to go from here.
    pub(crate) link: (&'a str, &'a str),
}

const HOME: (&str, &str) = ("/", "Back to the start");

impl PageError {
    /// The page that says it.
    pub(crate) fn render(&self) -> (StatusCode, String) {
        let (title, text) = self.text();
        let message = Message {
            title,
            text: &text,
            link: HOME,
        };
        let html = message.render().unwrap_or_else(|_| title.to_owned());
        (self.status(), html)
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::Refused(refused) => status(refused),
            Self::NoSuchPage => StatusCode::NOT_FOUND,
            Self::Foreign | Self::NotAlone => StatusCode::FORBIDDEN,
            Self::NotAForm => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Unstorable => StatusCode::BAD_REQUEST,
            Self::Body(fault) => match fault {
                BodyFault::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
                BodyFault::Encoded => StatusCode::UNSUPPORTED_MEDIA_TYPE,
                BodyFault::TooSlow => StatusCode::REQUEST_TIMEOUT,
                BodyFault::Broken => StatusCode::BAD_REQUEST,
                BodyFault::NoRoom => StatusCode::SERVICE_UNAVAILABLE,
            },
            Self::Fault(fault) => match fault {
                Fault::Crowded | Fault::Late => StatusCode::SERVICE_UNAVAILABLE,
                Fault::HeadTooLarge(_) => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                Fault::Malformed => StatusCode::BAD_REQUEST,
                Fault::Panicked => StatusCode::INTERNAL_SERVER_ERROR,
            },
        }
    }

    fn text(&self) -> (&'static str, String) {
        match self {
            Self::Refused(refused) => (title(refused), refused.to_string()),
            Self::NoSuchPage => (
                "There is no such page",
                "It may have been removed, or you may not have access to it.".to_owned(),
            ),
            Self::Foreign => (
                "Nothing was changed",
                "This form was not sent by this console. Open the page here and try again."
                    .to_owned(),
            ),
            Self::NotAlone => (
                "This picture is not shown here",
                "It is a part of the page of its item, and is shown only there.".to_owned(),
            ),
            Self::NotAForm => (
                "Nothing was changed",
                "What was sent is no form.".to_owned(),
            ),
            Self::Unstorable => (
                "Nothing was changed",
                "What was sent has the character U+0000, which cannot be stored.".to_owned(),
            ),
            Self::Body(fault) => ("Nothing was changed", fault.to_string()),
            Self::Fault(fault) => match fault {
                Fault::Crowded | Fault::Late => (
                    "Please wait a moment",
                    "Too much is waiting at the moment. Please try again.".to_owned(),
                ),
                Fault::HeadTooLarge(_) | Fault::Malformed => (
                    "This request cannot be read",
                    "Open the start page. If that does not help, delete this site's cookies."
                        .to_owned(),
                ),
                Fault::Panicked => (
                    "Something went wrong on our side",
                    "Please try again.".to_owned(),
                ),
            },
        }
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        if let Self::Refused(Refused::Store(error)) = &self {
            error!(%error, "a page of the console failed");
        }
        let (status, html) = self.render();
        Response::builder()
            .status(status)
            .header(header::CONTENT_TYPE, HTML)
            .body(html)
    }
}

fn status(refused: &Refused) -> StatusCode {
    match refused {
        Refused::Unauthenticated => StatusCode::UNAUTHORIZED,
        Refused::Forbidden(..) => StatusCode::FORBIDDEN,
        Refused::NotFound(_) | Refused::NoImage(_) => StatusCode::NOT_FOUND,
        Refused::Fields(_) | Refused::Invalid(_) | Refused::SignInFailed | Refused::WrongCode => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        Refused::Conflict(..) => StatusCode::CONFLICT,
        Refused::RateLimited { .. }
        | Refused::TooManyPings { .. }
        | Refused::TooManyDownloads { .. }
        | Refused::TooManyTries { .. } => StatusCode::TOO_MANY_REQUESTS,
        Refused::Overloaded | Refused::PreviewTimedOut | Refused::PreviewsUnavailable => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        Refused::Store(_) | Refused::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn title(refused: &Refused) -> &'static str {
    match status(refused) {
        StatusCode::NOT_FOUND => "There is no such page",
        StatusCode::FORBIDDEN => "You may not do this",
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => "Please wait a moment",
        StatusCode::INTERNAL_SERVER_ERROR => "Something went wrong on our side",
        _ => "Nothing was changed",
    }
}
