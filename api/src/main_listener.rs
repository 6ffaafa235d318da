//! The main listener: the public interface and the management interface, each with its document and
//! its Swagger UI, an index page, and the probes.

use std::{sync::Arc, time::Duration};

use api_common::Operations;
use http_server::{BodyReader, BodySettings, Middleware, RefusalSettings, Routes, SlowRefusals};
use management::Management;
use poem::{Endpoint, Response, Route, endpoint::make, get, http::Method, post};
use tokio::sync::watch;

use crate::{
    ProblemDocuments, Readiness, compat, html_pages,
    openapi_documents::Served,
    probes,
    public::{self, Public},
};

/// What applications call again and again. Alerts compare how fast it is with what was before.
const MEASURED: [&str; 4] = [
    "/functions/v1/submit-media",
    "/functions/v1/get-media-status",
    compat::openai::PATH,
    compat::perspective::ANALYZE,
];

/// What the listener works with.
pub struct Interface {
    /// What applications call.
    pub public: Public,
    /// What operators and teams call.
    pub management: Arc<Management>,
    /// The bounds of request bodies.
    pub body: BodySettings,
    /// How quickly refusals are answered.
    pub refusals: RefusalSettings,
    /// How long one request may take, its body included.
    pub deadline: Duration,
    /// Whether the process can work.
    pub ready: watch::Receiver<Readiness>,
}

/// The endpoint to [`http_server::serve::serve`] on the public address.
pub fn interface(interface: Interface) -> impl Endpoint<Output = Response> + 'static {
    let Interface {
        public,
        management,
        body,
        refusals,
        deadline,
        ready,
    } = interface;
    let reader = BodyReader::new(body);
    let public = Arc::new(public);
    let openai = compat::openai::moderations(Arc::clone(&public), reader.clone());
    let models = compat::openai::models(Arc::clone(&public));
    let model = compat::openai::model(Arc::clone(&public));
    let methods = compat::perspective::methods(Arc::clone(&public), reader.clone());
    let index = (html_pages::INDEX.to_owned(), vec![Method::GET]);
    let compat = [
        (compat::openai::PATH, Method::POST),
        (compat::openai::MODELS, Method::GET),
        (compat::openai::MODEL, Method::GET),
        (compat::perspective::ANALYZE, Method::POST),
        (compat::perspective::DISCOVERY, Method::GET),
    ];
    let compat = compat.map(|(path, method)| (path.to_owned(), vec![method]));
    let router = Route::new()
        .at(html_pages::INDEX, get(html_pages::index()))
        .at(compat::openai::PATH, post(openai))
        .at(compat::openai::MODELS, get(models))
        .at(compat::openai::MODEL, get(model))
        .at(compat::perspective::METHODS, post(methods))
        .at(
            compat::perspective::DISCOVERY,
            get(compat::perspective::discovery()),
        );
    let mut listener = Listener {
        router: probes::mount(router, ready),
        paths: probes::paths().chain([index]).chain(compat).collect(),
    };
    listener.add(
        public::PREFIX,
        (
            html_pages::PUBLIC_DOCS,
            "Gatehouse: interface for applications",
        ),
        public::operations(public, reader.clone()),
    );
    listener.add(
        management_api::PREFIX,
        (
            html_pages::MANAGEMENT_DOCS,
            "Gatehouse: management interface",
        ),
        management_api::operations(management, reader),
    );
    let endpoint = Middleware {
        router: listener.router,
        routes: Routes::new(listener.paths).measured(&MEASURED),
        deadline,
        errors: ProblemDocuments,
    };
    SlowRefusals::new(endpoint, refusals)
}

struct Listener {
    router: Route,
    paths: Vec<(String, Vec<Method>)>,
}

impl Listener {
    /// Adds an interface, its document and its page.
    fn add(&mut self, prefix: &str, (docs, title): (&str, &'static str), added: Operations) {
        let described = Served::new(title, added.describe);
        let served = html_pages::document_path(prefix);
        self.paths.extend(added.paths);
        for path in [served.as_str(), docs] {
            self.paths.push((path.to_owned(), vec![Method::GET]));
        }
        let router = std::mem::take(&mut self.router);
        self.router = router
            .nest(prefix, added.endpoint)
            .at(served, {
                let described = described.clone();
                get(make(move |_| described.clone().document()))
            })
            .at(docs, get(make(move |_| described.clone().page())));
    }
}
