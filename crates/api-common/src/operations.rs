//! The operations of an interface, ready to be served, and what describes them.

use std::sync::Arc;

use http_server::BodyReader;
use poem::{EndpointExt as _, Response, endpoint::BoxEndpoint, http::Method};
use poem_openapi::{OpenApi, OpenApiService, Webhook};

use crate::query_parameters::Taken;

/// An interface whose types are known to its own crate only, so that only this crate compiles its handlers.
pub struct Operations {
    /// Each path with its methods. The paths begin with the prefix of the interface.
    pub paths: Vec<(String, Vec<Method>)>,
    /// Answers what is requested below the prefix.
    pub endpoint: BoxEndpoint<'static, Response>,
    /// Makes the document and its page. This takes a processor up to a tenth of a second.
    pub describe: Box<dyn Fn() -> Description + Send + Sync>,
}

/// What describes an interface.
pub struct Description {
    /// The OpenAPI document.
    pub document: String,
    /// The page of Swagger UI, as poem-openapi writes it, with this document.
    pub swagger_ui: String,
}

impl Operations {
    /// The operations of `service` under `prefix`. Each request brings them `state` and `reader`.
    pub fn new<Api, Hooks, State>(
        prefix: &str,
        service: fn() -> OpenApiService<Api, Hooks>,
        document: fn() -> String,
        state: Arc<State>,
        reader: BodyReader,
    ) -> Self
    where
        Api: OpenApi + 'static,
        Hooks: Webhook + 'static,
        State: Send + Sync + 'static,
    {
        let paths = Api::meta()
            .into_iter()
            .flat_map(|api| api.paths)
            .map(|path| {
                let operations = path.operations.into_iter();
                let methods = operations.map(|operation| operation.method).collect();
                (format!("{prefix}{}", path.path), methods)
            });
        let endpoint = service()
            .data(state)
            .data(reader)
            .before(async |mut request| {
                if request.uri().query().is_some() {
                    request.set_data(Taken::default());
                }
                Ok(request)
            });
        let describe = move || {
            let service = service();
            let document = document();
            let swagger_ui = service
                .swagger_ui_html()
                .replacen(&service.spec(), &document, 1);
            Description {
                document,
                swagger_ui,
            }
        };
        Self {
            paths: paths.collect(),
            endpoint: endpoint.map_to_response().boxed(),
            describe: Box::new(describe),
        }
    }
}
