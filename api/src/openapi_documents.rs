//! The OpenAPI documents of the two interfaces, as `openapi/` in the repository has them.

mod served_document;

use crate::public;
use api_common::openapi::written;

pub(crate) use served_document::Served;

/// The public interface as OpenAPI 3.0.3: pretty JSON with a newline at the end.
pub fn public() -> String {
    written(&public::service(), public::openapi::finish)
}

/// The management interface, in the same form.
pub fn management() -> String {
    management_api::document()
}
