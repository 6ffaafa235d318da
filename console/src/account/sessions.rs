//! Where the person is signed in.

use std::sync::Arc;

use domain::id::SessionId;
use management::account::sessions::{self, Listed};

use crate::{page, request::PageRequest, router::Answer, time::Moment, user_agent::Browser};

/// A session as the page shows it.
pub(super) struct Row {
    pub(super) id: SessionId,
    pub(super) address: String,
    pub(super) browser: Browser,
    pub(super) signed_in: Moment,
    pub(super) used: Moment,
    pub(super) is_this: bool,
}

impl Row {
    pub(super) fn of(this: SessionId, listed: Vec<Listed>) -> Vec<Self> {
        let rows = listed.into_iter().map(|session| Self {
            id: session.id,
            address: session.address,
            browser: session.user_agent.into(),
            signed_in: session.created_at.into(),
            used: session.used_at.into(),
            is_this: session.id == this,
        });
        rows.collect()
    }
}

pub(crate) async fn end(request: Arc<PageRequest>) -> Answer {
    let (session, ended) = (request.session()?, request.id("session")?);
    sessions::end(&request.management, &request.visitor, session, ended).await?;
    Ok(page::see_other("/account?done=session-ended"))
}

pub(crate) async fn end_others(request: Arc<PageRequest>) -> Answer {
    sessions::end_others(&request.management, &request.visitor, request.session()?).await?;
    Ok(page::see_other("/account?done=sessions-ended"))
}
