//! The OpenAPI documents of the two interfaces, as `openapi/` in the repository has them.

mod served;

use crate::public;
use api_common::openapi::written;

pub(crate) use served::Served;

/// The public interface as OpenAPI 3.0.3: pretty JSON with a newline at the end.
pub fn public() -> String {
    written(&public::service(), public::document::finish)
}

/// The management interface, in the same form.
pub fn management() -> String {
    management_api::document()
}
