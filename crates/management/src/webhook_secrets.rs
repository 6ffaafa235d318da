//! The secrets that sign a site's webhooks: read when they sign, rotate.

use chrono::{DateTime, Utc};
use domain::{audit::Action, event::timestamp, id::SiteId, scope::Scope, webhook::LONGEST_NOTICE};
use serde::Serialize;
use serde_json::json;
pub use store::site::webhook_secret::{Rotated, Standing};
use store::{encryption, site};

use crate::{Caller, Noun, Refused, boxed, record, sites};

/// A webhook secret that was just created.
#[derive(Debug)]
pub struct IssuedSecret {
    /// The secret itself, which is shown once, and when it signs.
    pub rotated: Rotated,
    /// Which older secret the rotation has dropped.
    pub dropped: Option<Dropped>,
}

/// The secret that a rotation dropped. A site has two at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dropped {
    /// A secret that was scheduled and will never sign.
    Next,
    /// The previous secret, whose 24 hours were not over.
    Previous,
}

impl Dropped {
    /// Its name in the JSON interface.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Previous => "previous",
        }
    }

    /// The secret that a rotation drops while the secrets are in this state.
    pub fn by(before: &Standing) -> Option<Self> {
        if before.next_at.is_some() {
            Some(Self::Next)
        } else if before.previous_until.is_some() {
            Some(Self::Previous)
        } else {
            None
        }
    }
}

/// Which secrets a site has, and when they sign. The secrets themselves are not shown.
///
/// # Errors
/// The caller may not do it; there is no such site within reach.
#[boxed]
pub async fn get(caller: &Caller, site: SiteId) -> Result<Standing, Refused> {
    let mut session = caller.read(Scope::WebhooksRead).await?;
    session.require_site(site).await?;
    let standing = site::webhook_secret::standing(session.conn(), site).await?;
    standing.ok_or(Refused::NotFound(Noun::Site))
}

/// Creates a new secret for a site. It signs from `activate_at` on, or at once if that is `None` or
/// past. For 24 hours from then, the previous secret signs as well.
///
/// # Errors
/// The caller may not do it; there is no such site within reach; `activate_at` is more than [`LONGEST_NOTICE`] ahead.
#[boxed]
pub async fn rotate(
    caller: &Caller,
    site: SiteId,
    activate_at: Option<DateTime<Utc>>,
) -> Result<IssuedSecret, Refused> {
    let mut session = caller.change(Scope::WebhooksWrite).await?;
    session.require_recent_password()?;
    let team = sites::require_open(&mut session, site).await?;
    if activate_at.is_some_and(|at| at > Utc::now() + LONGEST_NOTICE) {
        let message = "must be at most 30 days ahead";
        return Err(Refused::field("activate_at", message));
    }
    let key = caller.management.master_key()?;
    // A secret that is sealed with the key of another database would be lost.
    encryption::check_master_key(session.conn(), key).await?;
    let rotated = site::webhook_secret::rotate(session.conn(), key, site, activate_at).await?;
    let rotated = rotated.ok_or(Refused::NotFound(Noun::Site))?;
    let dropped = Dropped::by(&rotated.before);
    let details = json!({
        "activates_at": timestamp(rotated.activates_at),
        "previous_until": timestamp(rotated.previous_until),
        "dropped": dropped,
    });
    record(session, Action::WebhookSecretRotate, team, site, details).await?;
    Ok(IssuedSecret { rotated, dropped })
}
