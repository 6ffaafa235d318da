//! One request of a browser: who sent it, to which page, with what.

use std::{net::IpAddr, sync::Arc};

use domain::{id::TeamId, key::SecretHash};
use fair_share::Proxies;
use http_server::{BodyReader, RequestId, Share};
use management::{
    AnonymousCaller, Caller, Management, Noun, Refused, SignOn, Snapshot,
    account::own_account::{self, Mine},
};
use poem::{
    Request, Response,
    http::{HeaderMap, Method, header},
};
use tokio::sync::OnceCell;
use uuid::Uuid;

use super::{Answer, error::PageError, form::Form, navigation::Area, see_other};
use crate::{Console, cookie, public_url};

/// One request, which a handler shares with the router: the router answers for a handler that fails.
pub(crate) type PageRequest = Arc<RequestParts>;

/// What was sent, and who is signed in.
pub(crate) struct RequestParts {
    pub(crate) management: Arc<Management>,
    /// Who signs in, or changes the own account.
    pub(crate) visitor: AnonymousCaller,
    pub(crate) query: Form,
    pub(crate) form: Form,
    /// Whether the browser asks for a picture of one of our pages.
    is_picture: bool,
    /// What the browser holds. The session may be over.
    held: Option<SecretHash>,
    /// The attempt to sign in at the provider that the browser holds, sealed.
    attempt: Option<String>,
    path: String,
    params: Vec<(String, String)>,
    request: String,
    /// Held as long as the form.
    _share: Option<Share>,
    /// Scheme and host of URLs that are handed on, without a slash at the end.
    origin: String,
    /// Who is signed in. It is read once.
    mine: OnceCell<Mine>,
    /// What all use cases of a page read from.
    snapshot: Option<Arc<Snapshot>>,
}

/// The paths of operators begin with this.
const INSTANCE: &str = "/instance/";

/// Those of the own account.
const ACCOUNT: &str = "/account";

impl RequestParts {
    /// Reads a request.
    pub(crate) async fn of(
        console: &Console,
        reader: &BodyReader,
        mut request: Request,
        path: String,
        params: Vec<(String, String)>,
    ) -> Result<Self, PageError> {
        let headers = request.headers();
        let client = client(http_server::sender(&request), headers, &console.proxies);
        let held = cookie::session(headers);
        let attempt = cookie::attempt(headers).map(str::to_owned);
        console.management.rate_limit.arrive(client, held).await?;
        let is_page = *request.method() != Method::POST;
        let (form, share) = if is_page {
            (Form::default(), None)
        } else {
            let (form, share) = Form::of_body(reader, &mut request).await?;
            (form, Some(share))
        };
        let id = request.data::<RequestId>();
        let id = id.expect("the middleware gives every request an id");
        let id = id.as_str().to_owned();
        let headers = request.headers();
        let browser = headers.get(header::USER_AGENT);
        let browser = browser.and_then(|name| name.to_str().ok()).unwrap_or("");
        Ok(Self {
            management: Arc::clone(&console.management),
            origin: public_url::of(console.public_url.as_ref(), &request),
            visitor: AnonymousCaller::new(client, browser, id.clone()),
            query: Form::of_query(&request)?,
            form,
            is_picture: is_picture(request.headers()),
            held,
            attempt,
            _share: share,
            path,
            params,
            request: id,
            mine: OnceCell::new(),
            snapshot: is_page.then(Arc::default),
        })
    }

    /// The path that was asked for.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// A part of the path; what cannot be one is the name of nothing.
    pub(crate) fn part<T: std::str::FromStr>(&self, name: &str) -> Result<T, PageError> {
        let mut params = self.params.iter();
        let found = params.find(|(known, _)| known == name);
        found
            .and_then(|(_, value)| value.parse().ok())
            .ok_or(PageError::NoSuchPage)
    }

    /// An id in the path.
    pub(crate) fn id<T: From<Uuid>>(&self, name: &str) -> Result<T, PageError> {
        Ok(self.part::<Uuid>(name)?.into())
    }

    /// Where the page is: in the team of the path, on the whole instance, or in the own account.
    pub(crate) fn at(&self) -> Result<Area, PageError> {
        if self.path.starts_with(INSTANCE) {
            Ok(Area::Instance)
        } else if self.path.starts_with(ACCOUNT) {
            Ok(Area::Own)
        } else {
            Ok(Area::Team(self.team()?))
        }
    }

    /// Leads to a place there, after a change.
    pub(crate) fn lead_to(&self, place: impl AsRef<str>) -> Answer {
        Ok(see_other(self.at()?.path(place.as_ref())))
    }

    /// Leads back to the page itself, which says what was done.
    pub(crate) fn lead_back(&self, done: &str) -> Response {
        see_other(format!("{}?done={done}", self.path))
    }

    /// Scheme and host of URLs that people can hand on.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// The team in the path.
    pub(crate) fn team(&self) -> Result<TeamId, PageError> {
        self.id("team")
    }

    /// The session of the browser. `Err`: it holds none.
    pub(crate) fn session(&self) -> Result<SecretHash, PageError> {
        self.held
            .ok_or(PageError::Refused(Refused::Unauthenticated))
    }

    /// Who is signed in. `Err`: nobody is signed in, or the second factor is missing.
    pub(crate) async fn mine(&self) -> Result<&Mine, PageError> {
        let session = self.session()?;
        let read = async || Ok(own_account::get(&self.management, session).await?);
        self.mine.get_or_try_init(read).await
    }

    /// Refuses to show a picture other than in one of our pages.
    pub(crate) fn require_picture(&self) -> Result<(), PageError> {
        if self.is_picture {
            Ok(())
        } else {
            Err(PageError::NotAlone)
        }
    }

    /// The attempt to sign in at the provider that the browser holds; empty if it holds none.
    pub(crate) fn attempt(&self) -> &str {
        self.attempt.as_deref().unwrap_or_default()
    }

    /// What people call the provider of single sign-on, if there is one.
    pub(crate) fn provider(&self) -> Option<&str> {
        self.management.sign_on.as_ref().map(SignOn::name)
    }

    /// The session, if the browser holds one.
    pub(crate) fn held(&self) -> Option<SecretHash> {
        self.held
    }

    /// The person who is signed in, in the team of the page; on the whole instance, as an operator. All use cases of a page
    /// read in one transaction. `Err`: nobody is signed in.
    pub(crate) fn caller(&self) -> Result<Caller, Refused> {
        let session = self.held.ok_or(Refused::Unauthenticated)?;
        // The router has refused a path whose team is none.
        let at = self.at().map_err(|_| Refused::NotFound(Noun::Team))?;
        let caller = Caller::session(&self.management, session, at.team(), self.request.clone());
        Ok(match &self.snapshot {
            Some(snapshot) => caller.within(snapshot),
            None => caller,
        })
    }
}

/// Whose tries are counted. The header is believed if a named proxy sent it: the last address in
/// it that is no proxy's.
fn client(peer: IpAddr, headers: &HeaderMap, proxies: &Proxies) -> IpAddr {
    if !proxies.contain(peer) {
        return peer;
    }
    let named = forwarded(headers);
    named
        .into_iter()
        .rev()
        .map_while(Result::ok)
        .find(|address| !proxies.contain(*address))
        .unwrap_or(peer)
}

/// Whether a page of ours shows the answer as a picture. Browsers that do not say so are refused.
fn is_picture(headers: &HeaderMap) -> bool {
    let is = |name: &str, value: &[u8]| {
        headers
            .get(name)
            .is_some_and(|said| said.as_bytes() == value)
    };
    is("sec-fetch-dest", b"image") && is("sec-fetch-site", b"same-origin")
}

fn forwarded(headers: &HeaderMap) -> Vec<Result<IpAddr, std::net::AddrParseError>> {
    let lines = headers.get_all("x-forwarded-for").into_iter();
    lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .map(|address| address.trim().parse())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client_of(peer: &str, forwarded: &str) -> String {
        let proxies = Proxies::new(["10.0.0.0/8".parse().unwrap()]);
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", forwarded.parse().unwrap());
        client(peer.parse().unwrap(), &headers, &proxies).to_string()
    }

    #[test]
    fn a_proxy_says_who_the_client_is_and_nobody_else_does() {
        assert_eq!(client_of("192.0.2.1", "198.51.100.7"), "192.0.2.1");
        assert_eq!(client_of("10.0.0.1", "198.51.100.7"), "198.51.100.7");
        assert_eq!(
            client_of("10.0.0.1", "203.0.113.9, 198.51.100.7, 10.2.3.4"),
            "198.51.100.7"
        );
        assert_eq!(client_of("10.0.0.1", "203.0.113.9, nonsense"), "10.0.0.1");
        assert_eq!(client_of("10.0.0.1", ""), "10.0.0.1");
    }
}
