//! The pages for people: `/`, which links to the documents, and a page for each interface.

use api_common::Json;
use poem::{
    Endpoint, IntoResponse as _, Request, Response,
    endpoint::make_sync,
    http::{HeaderMap, HeaderValue, header},
    web::Html,
};
use serde::Serialize;

use crate::{probes, public, security_headers};

/// The path where somebody begins who knows only the address.
pub(crate) const INDEX: &str = "/";
pub(crate) const PUBLIC_DOCS: &str = "/docs";
pub(crate) const MANAGEMENT_DOCS: &str = "/docs/management";

/// The answer of `/` to a program.
#[derive(Serialize)]
struct Index {
    name: &'static str,
    public: Description,
    management: Description,
    healthz: &'static str,
    readyz: &'static str,
}

/// The path of an interface, and of its document.
#[derive(Serialize)]
struct Description {
    base: &'static str,
    docs: &'static str,
    openapi: String,
}

impl Description {
    fn of(base: &'static str, docs: &'static str) -> Self {
        let openapi = document_path(base);
        Self {
            base,
            docs,
            openapi,
        }
    }
}

/// The path of the document of the interface with this prefix.
pub(crate) fn document_path(prefix: &str) -> String {
    format!("{prefix}/openapi.json")
}

/// `/`: a page for clients that accept HTML, such as browsers, and JSON for others.
pub(crate) fn index() -> impl Endpoint<Output = Response> {
    let [healthz, readyz] = probes::PATHS;
    let index = Index {
        name: "Gatehouse",
        public: Description::of(public::PREFIX, PUBLIC_DOCS),
        management: Description::of(management_api::PREFIX, MANAGEMENT_DOCS),
        healthz,
        readyz,
    };
    let body = format!(
        "<main style=\"padding: 1em 2em; font-family: sans-serif\">
<h1>Gatehouse</h1>
<p>A content moderation service. Its interfaces describe themselves:</p>
<ul>
<li><a href=\"{PUBLIC_DOCS}\">Interface for applications</a> (<a href=\"{}\">OpenAPI</a>)</li>
<li><a href=\"{MANAGEMENT_DOCS}\">Management interface</a> (<a href=\"{}\">OpenAPI</a>)</li>
</ul>
</main>",
        index.public.openapi, index.management.openapi
    );
    let page = Page::new("Gatehouse", "", &body);
    make_sync(move |request: Request| {
        let mut response = if takes_html(request.headers()) {
            page.response()
        } else {
            Json(&index).into_response()
        };
        let vary = HeaderValue::from_static("accept");
        response.headers_mut().insert(header::VARY, vary);
        response
    })
}

fn takes_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter();
    let mut accepted = accepted.filter_map(|value| value.to_str().ok());
    accepted.any(|value| value.to_ascii_lowercase().contains("text/html"))
}

/// The page of Swagger UI as poem-openapi writes it, with our title, links and headers. It has everything that it needs.
pub(crate) fn swagger_ui(title: &str, html: &str) -> Page {
    // The page of poem-openapi has no doctype, so browsers would use their quirks mode.
    let parts = html
        .split_once("<title>Swagger UI</title>")
        .and_then(|(_, rest)| rest.split_once("\n</head>\n<body>\n"))
        .and_then(|(head, rest)| Some((head, rest.rsplit_once("</body>")?.0)));
    let (head, body) = parts.expect("the template of poem-openapi has a head and a body");
    let head = head
        .replacen("<style charset=\"UTF-8\">", "<style>", 1)
        .replacen("<script charset=\"UTF-8\">", "<script>", 1);
    Page::new(title, &head, &format!("{NAVIGATION}{body}"))
}

/// The links above every document.
const NAVIGATION: &str = r#"<nav style="padding: 1em 2em; font-family: sans-serif">
<a href="/docs">Interface for applications</a> |
<a href="/docs/management">Management interface</a>
</nav>
"#;

/// A page with its headers.
pub(crate) struct Page {
    html: String,
    headers: HeaderMap,
}

impl Page {
    fn new(title: &str, head: &str, body: &str) -> Self {
        // Without an icon in the page, browsers request one.
        let html = format!(
            "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>{title}</title>
<link rel=\"icon\" href=\"data:,\">{head}
</head>
<body>
{body}
</body>
</html>
"
        );
        let headers = security_headers::of_page(&html).into_iter().collect();
        Self { html, headers }
    }

    pub(crate) fn response(&self) -> Response {
        let mut response = Html(self.html.clone()).into_response();
        response.headers_mut().extend(self.headers.clone());
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swagger_uis_own_code_stays_as_it_is() {
        let theirs = public::service().swagger_ui_html();
        let page = swagger_ui("A title", &theirs).html;
        let code = |page: &str| {
            let (_, style) = page.split_once("<style").unwrap();
            style.rsplit_once("\n</head>").unwrap().0.to_owned()
        };
        let wanted = code(&theirs).replacen(" charset=\"UTF-8\"", "", 2);
        assert!(code(&page) == wanted, "not a byte of it may change");
        assert!(page.contains(&format!("<body>\n{NAVIGATION}\n<div id=\"ui\"></div>")));
    }
}
