//! Who signs in, before anybody knows who it is.

use std::net::IpAddr;

/// How much of a browser's name is kept.
const LONGEST_USER_AGENT: usize = 200;

/// Somebody at an address, in a request.
#[derive(Clone, Debug)]
pub struct AnonymousCaller {
    /// The address of the client. Behind a proxy it must be the client's all the same: tries are
    /// counted by it.
    pub address: IpAddr,
    /// The header `User-Agent`, as its owner sees it in the list of sessions.
    pub(crate) user_agent: String,
    /// The id of the request, for the audit log.
    pub(crate) request: String,
}

impl AnonymousCaller {
    /// Somebody at this address, with this browser, in this request.
    pub fn new(address: IpAddr, user_agent: &str, request: String) -> Self {
        let printable = user_agent.chars().filter(|c| !c.is_control());
        Self {
            address,
            user_agent: printable.take(LONGEST_USER_AGENT).collect(),
            request,
        }
    }
}
