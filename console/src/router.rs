//! Finds the page of a request, and answers with it.

use std::{collections::HashMap, pin::Pin, sync::Arc};

use domain::scope::Scope;
use http_server::BodyReader;
use matchit::Params;
use poem::{
    Endpoint, IntoResponse as _, Request, Response, Result,
    http::{Method, StatusCode},
};

use crate::{Console, error_page::PageError, request::PageRequest, sign_in::reauthentication};

/// What a page answers.
pub(crate) type Answer = Result<Response, PageError>;

type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;
type Handler = Box<dyn Fn(Arc<PageRequest>) -> Answering + Send + Sync>;

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
    F: Fn(Arc<PageRequest>) -> A + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    route(Method::GET, path, needs, handler)
}

/// Where the browser comes back from the provider of single sign-on. It is the only GET that changes something: it signs the
/// person in. The provider can send a browser here only by an address, and such a request comes from another site, so a
/// form of ours is impossible. What protects other changes (`Sec-Fetch-Site`) is replaced by the attempt: it is sealed, kept
/// in a cookie of this browser, begins here, ends once, and must match the address. HEAD is not answered.
pub(crate) fn back<F, A>(path: &'static str, needs: Access, handler: F) -> Route
where
    F: Fn(Arc<PageRequest>) -> A + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    Route {
        returns: true,
        ..route(Method::GET, path, needs, handler)
    }
}

/// The target of a form.
pub(crate) fn post<F, A>(path: &'static str, needs: Access, handler: F) -> Route
where
    F: Fn(Arc<PageRequest>) -> A + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    route(Method::POST, path, needs, handler)
}

fn route<F, A>(method: Method, path: &'static str, needs: Access, handler: F) -> Route
where
    F: Fn(Arc<PageRequest>) -> A + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    Route {
        method,
        path,
        needs,
        returns: false,
        handler: Box::new(move |page_request| Box::pin(handler(page_request))),
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
        let page_request =
            match PageRequest::of(&self.console, &self.reader, request, path.clone(), params).await
            {
                Ok(page_request) => Arc::new(page_request),
                Err(error) => return error.into_response(),
            };
        if let Err(error) = page_request.require(route.needs).await {
            return error.answer(&page_request).await;
        }
        match reauthentication::take(&page_request).await {
            Ok(Ok(())) => {}
            Ok(Err(asked_again)) => return asked_again,
            Err(error) => return error.answer(&page_request).await,
        }
        match (route.handler)(Arc::clone(&page_request)).await {
            Ok(response) => response,
            Err(error) => error.answer(&page_request).await,
        }
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
