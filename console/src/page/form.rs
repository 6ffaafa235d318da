//! Fields of a form or of a query.

use std::{fmt::Display, str::FromStr};

use domain::reason::Reason;
use http_server::{BodyReader, Share};
use management::Refused;
use poem::{Request, http::header};
use url::form_urlencoded;

use super::error::PageError;

/// Named texts in the order in which they were sent. None has U+0000, which Postgres does not store: every text of a form or
/// an address is read here, so none of them reaches it.
#[derive(Default)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    pub(crate) fn of_query(request: &Request) -> Result<Self, PageError> {
        Self::parse(request.uri().query().unwrap_or("").as_bytes())
    }

    /// The body of a request, with its share of the memory for bodies.
    pub(crate) async fn of_body(
        reader: &BodyReader,
        request: &mut Request,
    ) -> Result<(Self, Share), PageError> {
        let sent = request.headers().get(header::CONTENT_TYPE);
        let is_form = sent.is_some_and(|kind| {
            kind.as_bytes()
                .starts_with(b"application/x-www-form-urlencoded")
        });
        if !is_form {
            return Err(PageError::NotAForm);
        }
        let body = request.take_body();
        let held = reader.read(request, body).await?;
        Ok((Self::parse(&held.bytes)?, held.share))
    }

    fn parse(bytes: &[u8]) -> Result<Self, PageError> {
        let mut fields = Vec::new();
        for (name, value) in form_urlencoded::parse(bytes) {
            if name.contains('\0') || value.contains('\0') {
                return Err(PageError::Unstorable);
            }
            // Browsers send line ends as CR LF.
            fields.push((name.into_owned(), value.replace("\r\n", "\n")));
        }
        Ok(Self(fields))
    }

    /// A field's text; empty if it was not sent.
    pub(crate) fn get(&self, name: &str) -> &str {
        let mut fields = self.0.iter();
        fields
            .find(|(known, _)| known == name)
            .map_or("", |(_, value)| value)
    }

    /// The texts of a field that was sent several times, such as boxes to tick.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let fields = self.0.iter().filter(move |(known, _)| known == name);
        fields.map(|(_, value)| value.as_str())
    }

    /// Whether the field was sent and is not empty.
    pub(crate) fn has(&self, name: &str) -> bool {
        !self.get(name).is_empty()
    }

    /// A field's value, without white space around it. `Err`: what is wrong with it.
    pub(crate) fn read<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T, Refused> {
        let value = self.get(name).trim().parse();
        value.map_err(|wrong: T::Err| Refused::field(name, wrong.to_string()))
    }

    /// The same for a field that may be empty.
    pub(crate) fn read_optional<T: FromStr<Err: Display>>(
        &self,
        name: &str,
    ) -> Result<Option<T>, Refused> {
        if self.get(name).trim().is_empty() {
            return Ok(None);
        }
        self.read(name).map(Some)
    }

    /// A value that was chosen among some. `Err`: it is none of them. The message says of which.
    pub(crate) fn choice<T: FromStr>(&self, name: &str, message: &str) -> Result<T, Refused> {
        let chosen = self.get(name).parse();
        chosen.map_err(|_| Refused::field(name, message))
    }

    /// The same for a choice that may be empty.
    pub(crate) fn optional_choice<T: FromStr>(
        &self,
        name: &str,
        message: &str,
    ) -> Result<Option<T>, Refused> {
        if self.get(name).is_empty() {
            return Ok(None);
        }
        self.choice(name, message).map(Some)
    }

    /// A reason in somebody's own words, which may be missing.
    pub(crate) fn note(&self, name: &str) -> Result<Option<Reason>, Refused> {
        let text = self.get(name);
        if text.trim().is_empty() {
            return Ok(None);
        }
        let note = Reason::try_from(text.to_owned()).map(Some);
        note.map_err(|wrong| Refused::field(name, wrong.to_string()))
    }

    /// All fields but this one, to be sent again.
    pub(crate) fn without<'a>(
        &'a self,
        name: &'a str,
    ) -> impl Iterator<Item = &'a (String, String)> {
        self.0.iter().filter(move |(known, _)| known != name)
    }
}
