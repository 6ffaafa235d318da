//! The headers that an owner wants on every request. They may hold secrets, so they are sealed.

use domain::{id::EndpointId, webhook::CustomHeader};

use crate::{Error, encryption::MasterKey};

/// Opens the headers that an endpoint's owner wants on every request.
pub(crate) fn open_headers(
    key: &MasterKey,
    endpoint: EndpointId,
    sealed: &[u8],
) -> Result<Vec<CustomHeader>, Error> {
    let headers = key.open(&headers_owner(endpoint), sealed)?;
    Ok(serde_json::from_slice(&headers)?)
}

/// What an endpoint's headers are sealed for.
pub(crate) fn headers_owner(endpoint: EndpointId) -> String {
    format!("webhook_headers:{endpoint}")
}

pub(super) fn seal_headers(
    key: Option<&MasterKey>,
    endpoint: EndpointId,
    headers: &[CustomHeader],
) -> Result<Option<Vec<u8>>, Error> {
    if headers.is_empty() {
        return Ok(None);
    }
    let headers = serde_json::to_vec(headers)?;
    Ok(Some(
        required(key)?.seal(&headers_owner(endpoint), &headers),
    ))
}

/// The key that headers are sealed with. Endpoints without headers need none.
pub(super) fn required(key: Option<&MasterKey>) -> Result<&MasterKey, Error> {
    let missing = || Error::Unreadable("headers are sealed, and there is no master key".into());
    key.ok_or_else(missing)
}
