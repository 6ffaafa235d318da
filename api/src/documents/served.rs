//! The OpenAPI document of an interface and its page, made when one of them is first requested.

use std::sync::Arc;

use poem::Response;
use poem_openapi::{OpenApi, OpenApiService, Webhook};
use tokio::{sync::OnceCell, task::spawn_blocking};

use crate::pages::{self, Page};

/// Making both takes a processor up to a tenth of a second. Most processes are never asked for them, so none makes them
/// when it starts.
#[derive(Clone)]
pub(crate) struct Served {
    made: Arc<OnceCell<Both>>,
    make: Arc<dyn Fn() -> Both + Send + Sync>,
}

struct Both {
    document: String,
    page: Page,
}

impl Served {
    /// What `service` describes, with `document` as its finished document and a page with this title.
    pub(crate) fn new<Api, Hooks>(
        title: &'static str,
        service: fn() -> OpenApiService<Api, Hooks>,
        document: fn() -> String,
    ) -> Self
    where
        Api: OpenApi + 'static,
        Hooks: Webhook + 'static,
    {
        let make = move || {
            let document = document();
            let page = pages::swagger_ui(title, &service(), &document);
            Both { document, page }
        };
        Self {
            made: Arc::default(),
            make: Arc::new(make),
        }
    }

    pub(crate) async fn document(self) -> Response {
        Response::builder()
            .content_type("application/json")
            .body(self.both().await.document.clone())
    }

    pub(crate) async fn page(self) -> Response {
        self.both().await.page.response()
    }

    async fn both(&self) -> &Both {
        let making = async || {
            let make = Arc::clone(&self.make);
            let both = spawn_blocking(move || make()).await;
            both.expect("tests make the same document and page")
        };
        self.made.get_or_init(making).await
    }
}
