//! What somebody sees who is not signed in yet, or must prove something again.

pub(crate) mod code;
pub(crate) mod confirm;
pub(crate) mod link;
pub(crate) mod sign_in;
pub(crate) mod sign_on;

use management::account::{Next, SignedIn};
use poem::{Response, http::header};

use crate::{cookie, page};

/// Has the browser hold the session, and leads to what must be done next.
fn entered(signed_in: &SignedIn) -> Response {
    let mut response = page::see_other(match signed_in.next {
        Next::Enter => "/",
        Next::GiveFactor => "/sign-in/code",
        Next::SetUpFactor => "/account/factor",
    });
    let held = cookie::hold(&signed_in.secret);
    response.headers_mut().insert(header::SET_COOKIE, held);
    response
}
