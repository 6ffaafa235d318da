//! Finds the page of a request, refuses anyone who may not open it, and answers with it.

use std::{collections::HashMap, pin::Pin, sync::Arc};

use domain::scope::Scope;
use http_server::BodyReader;
use management::{Forbidden, Refused};
use matchit::Params;
use poem::{
    Endpoint, IntoResponse as _, Request, Response, Result,
    http::{Method, StatusCode},
};

use crate::{
    Console,
    page::{Answer, PageError, PageRequest, RequestParts, see_other},
    sign_in::reauthentication,
};

type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;
type Handler = Box<dyn Fn(PageRequest) -> Answering + Send + Sync>;

/// Who may open a page. The router refuses everybody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anyone.
    Nothing,
    /// Anyone who is signed in.
    Session,
    /// A person whose role has the scope.
    Scope(Scope),
}

/// A page or a form's target.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) needs: Access,
    /// Whether the browser comes back here from the provider of single sign-on.
    returns: bool,
    handler: Handler,
}

/// A page that is shown.
pub(crate) fn get<F, A>(path: &'static str, needs: Access, handler: F) -> Route
where
    F: Fn(PageRequest) -> A + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    Route::new(Method::GET, path, needs, boxed(handler))
}

/// Where the browser comes back from the provider of single sign-on. It is the only GET that changes something: it signs the
/// person in. The provider can send a browser here only by an address, and such a request comes from another site, so a
/// form of ours is impossible. What protects other changes (`Sec-Fetch-Site`) is replaced by the attempt: it is sealed, kept
/// in a cookie of this browser, begins here, ends once, and must match the address. HEAD is not answered.
pub(crate) fn back<F, A>(path: &'static str, needs: Access, handler: F) -> Route
where
    F: Fn(PageRequest) -> A + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    Route {
        returns: true,
        ..get(path, needs, handler)
    }
}

/// The target of a form.
pub(crate) fn post<F, A>(path: &'static str, needs: Access, handler: F) -> Route
where
    F: Fn(PageRequest) -> A + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    Route::new(Method::POST, path, needs, boxed(handler))
}

/// The only code that is compiled once more for each handler.
fn boxed<F, A>(handler: F) -> Handler
where
    F: Fn(PageRequest) -> A + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    Box::new(move |page_request| Box::pin(handler(page_request)))
}

impl Route {
    fn new(method: Method, path: &'static str, needs: Access, handler: Handler) -> Self {
        Self {
            method,
            path,
            needs,
            returns: false,
            handler,
        }
    }
}

/// All routes, by path and method.
pub(crate) struct Router {
    console: Console,
    reader: BodyReader,
    routes: matchit::Router<Vec<Route>>,
}

impl Router {
    /// # Panics
    /// Two paths are the same.
    pub(crate) fn new(console: Console, routes: Vec<Route>) -> Self {
        let mut by_path: HashMap<&str, Vec<Route>> = HashMap::new();
        for route in routes {
            by_path.entry(route.path).or_default().push(route);
        }
        let mut matcher = matchit::Router::new();
        for (path, routes) in by_path {
            let inserted = matcher.insert(path, routes);
            inserted.expect("no two routes have the same path");
        }
        Self {
            reader: BodyReader::new(console.body.clone()),
            console,
            routes: matcher,
        }
    }

    async fn answer(&self, request: Request) -> Response {
        let path = request.uri().path().to_owned();
        let Ok(found) = self.routes.at(&path) else {
            return PageError::NoSuchPage.into_response();
        };
        // HEAD asks for the headers of a page.
        let method = match *request.method() {
            Method::HEAD => Method::GET,
            ref other => other.clone(),
        };
        let is_head = *request.method() == Method::HEAD;
        let answers = |route: &&Route| route.method == method && !(is_head && route.returns);
        let Some(route) = found.value.iter().find(answers) else {
            // The middleware says which methods it takes.
            let mut response = PageError::NoSuchPage.into_response();
            response.set_status(StatusCode::METHOD_NOT_ALLOWED);
            return response;
        };
        let params = owned(&found.params);
        let received =
            RequestParts::of(&self.console, &self.reader, request, path.clone(), params).await;
        let page_request = match received {
            Ok(received) => Arc::new(received),
            Err(error) => return error.into_response(),
        };
        match handle(route, &page_request).await {
            Ok(response) => response,
            Err(error) => refused(error, &page_request).await,
        }
    }
}

async fn handle(route: &Route, request: &PageRequest) -> Answer {
    require(request, route.needs).await?;
    match reauthentication::take(request).await? {
        Ok(()) => (route.handler)(Arc::clone(request)).await,
        Err(asked_again) => Ok(asked_again),
    }
}

/// Refuses everybody who may not open a page with these needs, before anything else is looked at. The use cases check again.
/// `Err`: nobody is signed in; the person is not in the team, or has no role there with the scope.
async fn require(request: &PageRequest, needs: Access) -> Result<(), PageError> {
    let scope = match needs {
        Access::Nothing => return Ok(()),
        Access::Session => return request.session().map(|_| ()),
        Access::Scope(scope) => scope,
    };
    let mine = request.mine().await?;
    let team = request.at()?.team();
    let mut entrances = mine.entrances.iter();
    let here = entrances.find(|entrance| entrance.team.as_ref().map(|(id, _)| *id) == team);
    match here {
        Some(here) if here.role.scopes().contains(&scope) => Ok(()),
        Some(here) => Err(Refused::beyond_own(here.role, scope).into()),
        None => Err(PageError::NoSuchPage),
    }
}

/// Whoever must sign in or give something first is led there. Everybody else is told what is wrong.
async fn refused(error: PageError, request: &PageRequest) -> Response {
    match error {
        PageError::Refused(Refused::Unauthenticated) => see_other("/sign-in"),
        PageError::Refused(Refused::Forbidden(Forbidden::FactorRequired, _)) => {
            see_other("/sign-in/code")
        }
        PageError::Refused(Refused::Forbidden(Forbidden::FactorSetUpRequired, _)) => {
            see_other("/account/factor")
        }
        PageError::Refused(Refused::Forbidden(Forbidden::ReauthenticationRequired, _)) => {
            reauthentication::ask(request, None).await
        }
        other => other.into_response(),
    }
}

impl Endpoint for Router {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        Ok(self.answer(request).await)
    }
}

fn owned(params: &Params<'_, '_>) -> Vec<(String, String)> {
    let pairs = params.iter();
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
