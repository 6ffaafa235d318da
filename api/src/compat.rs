//! Interfaces of other services, for applications that come from them and change one address. What they send becomes items of a site,
//! and is judged by its rules. They are not in our OpenAPI documents: their own documents describe them.

pub(crate) mod openai;
pub(crate) mod perspective;
mod submit_and_wait;

use api_common::Refusal;

/// The longest text that an answer repeats, in bytes. It is kept while the request waits, when the memory of the body is free again.
const REPEATED: usize = 1_000;

/// Whether an answer can repeat this member of the request.
fn can_be_repeated(field: &str, text: &str) -> Result<(), Refusal> {
    if text.len() > REPEATED {
        let message = format!("must have at most {REPEATED} bytes");
        return Err(Refusal::invalid_field(field, message));
    }
    Ok(())
}
