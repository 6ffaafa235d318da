//! A person's browser: asks for pages on one connection, and finds their links.

use std::{
    io,
    net::SocketAddr,
    sync::LazyLock,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use regex::Regex;
use reqwest::Url;

use crate::http::Client;

/// A signed-in person, or nobody.
pub(super) struct Browser {
    client: Client,
    /// The header with the session.
    cookie: String,
}

/// A page as it was answered.
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
    /// From sending the request to the last byte of the answer.
    pub(super) took: Duration,
}

/// Links have their address in double quotes.
static LINK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"<a\s(?:[^>]*?\s)?href="([^"]*)""#).expect("the pattern is valid")
});

impl Browser {
    /// With the secret of a session, or of nobody.
    pub(super) fn new(console: SocketAddr, session: Option<&str>) -> Self {
        let cookie = session.map(|secret| format!("__Host-gatehouse={secret}"));
        Self {
            client: Client::new(console),
            cookie: cookie.unwrap_or_default(),
        }
    }

    /// What it sends as its cookie.
    pub(super) fn cookie(&self) -> &str {
        &self.cookie
    }

    /// Asks for a page.
    pub(super) async fn open(&mut self, path: &str) -> anyhow::Result<Answered> {
        let cookie = match self.cookie.as_str() {
            "" => String::new(),
            cookie => format!("cookie: {cookie}\r\n"),
        };
        let request = format!("GET {path} HTTP/1.1\r\nhost: gatehouse\r\n{cookie}\r\n");
        let begun = Instant::now();
        let answer = self.client.send(request.as_bytes()).await;
        let took = begun.elapsed();
        let answer = answer
            .map_err(io::Error::from)
            .with_context(|| format!("GET {path} was not answered"))?;
        Ok(Answered {
            status: answer.status,
            body: answer.body.to_vec(),
            took,
        })
    }
}

impl Answered {
    /// The pages of the same origin that it links to, as absolute paths with their queries.
    pub(super) fn links(&self, path: &str) -> anyhow::Result<Vec<String>> {
        let here = Url::parse("http://gatehouse")?.join(path)?;
        let text = String::from_utf8_lossy(&self.body);
        let links = LINK.captures_iter(&text).filter_map(|found| {
            let link = here.join(&unescaped(&found[1])).ok()?;
            (link.origin() == here.origin()).then(|| match link.query() {
                Some(query) => format!("{}?{query}", link.path()),
                None => link.path().to_owned(),
            })
        });
        Ok(links.collect())
    }
}

fn unescaped(attribute: &str) -> String {
    attribute
        .replace("&#38;", "&")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_resolved_and_unescaped() {
        let answered = Answered {
            status: 200,
            body: br#"<a class="x" href="?status=a&#38;after=b">next</a> <a href="/t/1#top">top</a>
                <a data-href="/no">no</a> <a href="https://elsewhere.example/">away</a> <link href="/assets/x.css">"#
                .to_vec(),
            took: Duration::ZERO,
        };
        let links = answered.links("/t/1/items?page=2").unwrap();
        assert_eq!(links, ["/t/1/items?status=a&after=b", "/t/1"]);
    }
}
