//! The OpenAPI documents of the two interfaces, as `openapi/` in the repository has them.

use std::sync::Arc;

use api_common::Description;
use poem::Response;
use tokio::{sync::OnceCell, task::spawn_blocking};

use crate::{
    html_pages::{self, Page},
    public,
};

/// The public interface as OpenAPI 3.0.3: pretty JSON with a newline at the end.
pub fn public() -> String {
    public::document()
}

/// The management interface, in the same form.
pub fn management() -> String {
    management_api::document()
}

/// Most processes are never asked for them, so none makes them when it starts.
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
    /// What `describe` makes, with this title on the page.
    pub(crate) fn new(
        title: &'static str,
        describe: Box<dyn Fn() -> Description + Send + Sync>,
    ) -> Self {
        let make = move || {
            let description = describe();
            Both {
                page: html_pages::swagger_ui(title, &description.swagger_ui),
                document: description.document,
            }
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
