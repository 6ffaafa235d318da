//! What people do with their own account: sign in, prove a second factor, change the password, see and end their sessions.
//!
//! None of it asks for a scope. It is recorded in the audit log of every team that the person is in.

pub mod factor;
pub mod links;
pub mod me;
pub mod sessions;
pub mod sign_in;

use std::{net::IpAddr, time::Duration};

use domain::{
    actor::Actor,
    audit::Action,
    id::{SessionId, UserId},
    key::{SecretHash, SessionSecret},
    password::{NewPassword, Password},
};
use serde_json::Value;
use store::{
    PgConnection, PgTransaction,
    audit::{self, Entry},
    person::{
        self, Account,
        failure::{self, Pair},
        session::{self, Held, Origin},
    },
};
use uuid::Uuid;

use crate::{
    Management, Refused, Visitor,
    session::{factor_required, factor_set_up_required, require_recent},
};

/// Somebody who has signed in.
#[derive(Debug)]
pub struct SignedIn {
    /// The session.
    pub session: SessionId,
    /// What the browser holds from now on. It is shown once.
    pub secret: SessionSecret,
    /// What the person must do next.
    pub next: Next,
}

/// What somebody who has given the password must do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing: the session may do what the person may.
    Enter,
    /// Give the code of the second factor.
    GiveFactor,
    /// Set up a second factor. Where none is needed, the person may do something else, too.
    SetUpFactor,
}

/// A transaction in which somebody changes the own account.
pub(crate) struct Own {
    pub(crate) tx: PgTransaction<'static>,
    pub(crate) held: Held,
}

impl Management {
    /// Begins a change of somebody's own account, in a session that has proved all that it can.
    pub(crate) async fn own(&self, session: SecretHash) -> Result<Own, Refused> {
        let mut own = self.own_unproved(session).await?;
        if own.held.has_factor && !own.held.has_given_factor {
            return Err(factor_required());
        }
        if !own.held.has_factor && person::needs_factor(&mut own.tx, own.held.user).await? {
            return Err(factor_set_up_required());
        }
        Ok(own)
    }

    /// The same, whether or not the second factor was given or set up: for what gives it, sets it up, or ends the session.
    pub(crate) async fn own_unproved(&self, session: SecretHash) -> Result<Own, Refused> {
        session::touch(&self.pool, session).await?;
        let begun = session::begin_own(&self.pool, session).await?;
        let (tx, held) = begun.ok_or(Refused::Unauthenticated)?;
        Ok(Own { tx, held })
    }

    /// Counts a try at an account, unless the address must wait.
    async fn count_try(&self, pair: Pair) -> Result<(), Refused> {
        let mut conn = self.pool.acquire().await.map_err(store::Error::from)?;
        failure::count(&mut conn, pair)
            .await?
            .map_err(|wait| Refused::TooManyTries {
                seconds: whole_seconds(wait),
            })
    }

    /// Whether this is the password of the account. Tries are counted, and forgotten when one is right.
    async fn is_password(
        &self,
        address: IpAddr,
        pair: Pair,
        password: &str,
        account: Option<&Account>,
    ) -> Result<bool, Refused> {
        self.count_try(pair).await?;
        let Some(password) = Password::typed(password) else {
            return Ok(false);
        };
        let stored = account.map(|account| account.password_hash.clone());
        self.passwords.verify(address, password, stored).await
    }

    /// The hash of a password that somebody chooses.
    async fn choose(
        &self,
        address: IpAddr,
        account: &domain::email::Email,
        password: &str,
    ) -> Result<String, Refused> {
        let chosen = NewPassword::choose(password, account);
        let chosen = chosen.map_err(|weak| Refused::field("password", weak.to_string()))?;
        self.passwords.hash(address, &chosen).await
    }

    async fn account_of(&self, user: UserId) -> Result<Account, Refused> {
        let mut tx = self.begin().await?;
        Ok(person::lock_account(&mut tx, user).await?)
    }
}

impl Own {
    /// Refuses somebody who gave the password more than 10 minutes ago.
    pub(crate) fn require_recent_password(&self) -> Result<(), Refused> {
        require_recent(self.held.password_age)
    }

    /// Records what was done, and commits.
    pub(crate) async fn done(
        mut self,
        visitor: &Visitor,
        action: Action,
        target: Uuid,
        details: &Value,
    ) -> Result<(), Refused> {
        record(
            &mut self.tx,
            self.held.user,
            visitor,
            action,
            target,
            details,
        )
        .await?;
        Ok(self.tx.commit().await.map_err(store::Error::from)?)
    }
}

/// Creates a session of somebody whose password was right, in a transaction that has locked the account.
async fn enter(
    conn: &mut PgConnection,
    visitor: &Visitor,
    account: &Account,
) -> Result<SignedIn, Refused> {
    let address = visitor.address.to_string();
    let origin = Origin {
        address: &address,
        user_agent: &visitor.user_agent,
    };
    let (session, secret) = session::create(conn, account.user, origin).await?;
    let next = if account.has_factor {
        Next::GiveFactor
    } else if person::needs_factor(conn, account.user).await? {
        Next::SetUpFactor
    } else {
        Next::Enter
    };
    Ok(SignedIn {
        session,
        secret,
        next,
    })
}

/// Records what somebody did with the own account, in each team that the person is in.
async fn record(
    conn: &mut PgConnection,
    user: UserId,
    visitor: &Visitor,
    action: Action,
    target: Uuid,
    details: &Value,
) -> Result<(), Refused> {
    for membership in person::memberships(conn, user).await? {
        let entry = Entry {
            actor: Actor::Member(membership.id),
            action,
            team: membership.team,
            target: Some(target),
            details,
            request_id: Some(&visitor.request),
        };
        audit::record(conn, entry).await?;
    }
    Ok(())
}

/// Rounded up: trying again after so long makes sense.
fn whole_seconds(wait: Duration) -> u32 {
    u32::try_from(wait.as_millis().div_ceil(1_000))
        .unwrap_or(u32::MAX)
        .max(1)
}
