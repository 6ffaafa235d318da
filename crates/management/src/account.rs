//! What people do with their own account: sign in, give a second factor, change the password, see
//! and end their sessions.
//!
//! None of this needs a scope. It is recorded in the audit log of every team that the person is in.

pub mod current_caller;
pub mod first_operator;
pub mod identities;
pub mod one_time_links;
pub mod own_account;
pub mod second_factor;
pub mod sessions;
pub mod sign_in;
pub mod sign_on;

use std::{net::IpAddr, time::Duration};

use domain::{
    actor::Actor,
    audit::Action,
    id::{SessionId, UserId},
    key::{SecretHash, SessionSecret},
    password::{NewPassword, Password},
};
use metrics::{Counter, counter};
use serde_json::Value;
use store::{
    PgConnection, PgTransaction,
    audit::{self, Entry},
    person::{
        self, Account,
        failed_sign_in::{self, Pair},
        session::{self, Held, Origin, Proved},
    },
};
use uuid::Uuid;

use crate::{
    AnonymousCaller, Management, Refused,
    session::{factor_required, factor_set_up_required, require_recent},
};

/// A person who has signed in.
#[derive(Debug)]
pub struct SignedIn {
    /// The session.
    pub session: SessionId,
    /// The secret for the browser. It is shown once.
    pub secret: SessionSecret,
    /// What the person must do next.
    pub next: Next,
}

/// What a person who has given the password must do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing: the session may do what the person may.
    Enter,
    /// Give the code of the second factor.
    GiveFactor,
    /// Set up a second factor. In teams that need none, the person may do other things, too.
    SetUpFactor,
}

/// A transaction in which a person changes the own account.
pub(crate) struct Own {
    pub(crate) tx: PgTransaction<'static>,
    pub(crate) held: Held,
}

impl Management {
    /// Begins a change of a person's own account. The session must have given every factor that the
    /// person has or needs.
    pub(crate) async fn own(&self, session: SecretHash) -> Result<Own, Refused> {
        let mut own = self.own_unproved(session).await?;
        if own.held.has_given_factor {
            return Ok(own);
        }
        if own.held.has_factor {
            return Err(factor_required());
        }
        if person::needs_factor(&mut own.tx, own.held.user).await? {
            return Err(factor_set_up_required());
        }
        Ok(own)
    }

    /// The same without asking for the second factor: for giving it, setting it up, and ending the
    /// session.
    pub(crate) async fn own_unproved(&self, session: SecretHash) -> Result<Own, Refused> {
        session::touch(&self.pool, session).await?;
        let begun = session::begin_own(&self.pool, session).await?;
        let (tx, held) = begun.ok_or(Refused::Unauthenticated)?;
        Ok(Own { tx, held })
    }

    /// Counts a try at an account, unless the address must wait.
    async fn count_try(&self, pair: Pair) -> Result<(), Refused> {
        let mut conn = self.pool.acquire().await.map_err(store::Error::from)?;
        failed_sign_in::count(&mut conn, pair)
            .await?
            .map_err(|wait| Refused::TooManyTries {
                seconds: whole_seconds(wait),
            })
    }

    /// Whether this is the password of the account. The try is counted; the caller forgets it if
    /// the rest succeeds, too.
    async fn is_password(
        &self,
        address: IpAddr,
        pair: Pair,
        password: &str,
        account: Option<&Account>,
    ) -> Result<bool, Refused> {
        let Some(password) = Password::typed(password) else {
            return Ok(false);
        };
        // Only a try that waits for a turn is counted, so that the number of rows is limited as the
        // hashes are.
        let place = self.passwords.place(address)?;
        self.count_try(pair).await?;
        let stored = account.map(|account| account.password_hash.clone());
        self.passwords.verify(place, password, stored).await
    }

    /// The hash of a new password.
    async fn choose(
        &self,
        address: IpAddr,
        account: &domain::email::Email,
        password: &str,
    ) -> Result<String, Refused> {
        let chosen = NewPassword::choose(password, account);
        let chosen = chosen.map_err(|weak| Refused::field("password", weak.to_string()))?;
        let place = self.passwords.place(address)?;
        self.passwords.hash(place, chosen).await
    }

    async fn account_of(&self, user: UserId) -> Result<Account, Refused> {
        let mut tx = self.begin().await?;
        Ok(person::lock_account(&mut tx, user).await?)
    }
}

impl Own {
    /// Refuses a person who gave the password more than 10 minutes ago.
    pub(crate) fn require_recent_password(&self) -> Result<(), Refused> {
        require_recent(self.held.password_age)
    }

    /// Records what was done, and commits.
    pub(crate) async fn done(
        mut self,
        anonymous_caller: &AnonymousCaller,
        action: Action,
        target: Uuid,
        details: &Value,
    ) -> Result<(), Refused> {
        record(
            &mut self.tx,
            self.held.user,
            anonymous_caller,
            action,
            target,
            details,
        )
        .await?;
        Ok(self.tx.commit().await.map_err(store::Error::from)?)
    }
}

/// Creates a session after the password was right, in a transaction that has locked the account.
async fn enter(
    conn: &mut PgConnection,
    anonymous_caller: &AnonymousCaller,
    account: &Account,
) -> Result<SignedIn, Refused> {
    let address = anonymous_caller.address.to_string();
    let created = session::create(conn, account.user, origin(anonymous_caller, &address)).await?;
    entered(conn, account, created, false).await
}

/// Creates a session after the provider of single sign-on has said who it is.
async fn enter_by_provider(
    conn: &mut PgConnection,
    anonymous_caller: &AnonymousCaller,
    account: &Account,
    proved: Proved,
) -> Result<SignedIn, Refused> {
    let address = anonymous_caller.address.to_string();
    let origin = origin(anonymous_caller, &address);
    let created = session::create_by_provider(conn, account.user, origin, proved).await?;
    entered(conn, account, created, proved.is_strong).await
}

fn origin<'a>(anonymous_caller: &'a AnonymousCaller, address: &'a str) -> Origin<'a> {
    Origin {
        address,
        user_agent: &anonymous_caller.user_agent,
    }
}

/// What a new session must do next. `is_strong`: it has given a second factor already.
async fn entered(
    conn: &mut PgConnection,
    account: &Account,
    (session, secret): (SessionId, SessionSecret),
    is_strong: bool,
) -> Result<SignedIn, Refused> {
    let next = if is_strong {
        Next::Enter
    } else if account.has_factor {
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

/// Records what a person did with the own account, in each team that the person is in.
async fn record(
    conn: &mut PgConnection,
    user: UserId,
    anonymous_caller: &AnonymousCaller,
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
            request_id: Some(&anonymous_caller.request),
        };
        audit::record(conn, entry).await?;
    }
    Ok(())
}

/// Rounded up, so that a try after this time is not too early.
fn whole_seconds(wait: Duration) -> u32 {
    u32::try_from(wait.as_millis().div_ceil(1_000))
        .unwrap_or(u32::MAX)
        .max(1)
}

/// How one step of a sign-in ended: giving the password, or giving the code of the second factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The password was right.
    Password,
    /// The code was right.
    Code,
    /// The provider of single sign-on said who it is.
    SignOn,
    /// What came back from the provider of single sign-on was no sign-in, or the person may sign in nowhere.
    SignOnFailed,
    /// Account and password do not belong together, or the person may sign in nowhere.
    WrongPassword,
    /// The code was wrong, or was used before.
    WrongCode,
    /// There were too many tries.
    Throttled,
    /// Too many passwords were being compared.
    Overloaded,
}

impl Outcome {
    const ALL: [Self; 8] = [
        Self::Password,
        Self::Code,
        Self::SignOn,
        Self::SignOnFailed,
        Self::WrongPassword,
        Self::WrongCode,
        Self::Throttled,
        Self::Overloaded,
    ];

    /// What a step came to, if it succeeds with this one. None: it is no outcome of a sign-in, but
    /// a session that was over, or a failure of the database.
    fn of<T>(result: &Result<T, Refused>, success: Self) -> Option<Self> {
        match result {
            Ok(_) => Some(success),
            Err(Refused::SignInFailed) => Some(Self::WrongPassword),
            Err(Refused::WrongCode) => Some(Self::WrongCode),
            Err(Refused::TooManyTries { .. }) => Some(Self::Throttled),
            Err(Refused::Overloaded) => Some(Self::Overloaded),
            Err(_) => None,
        }
    }

    fn count(self) {
        self.counter().increment(1);
    }

    fn counter(self) -> Counter {
        counter!("gatehouse_sign_ins_total", "outcome" => self.as_str())
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Code => "code",
            Self::SignOn => "sign_on",
            Self::SignOnFailed => "sign_on_failed",
            Self::WrongPassword => "wrong_password",
            Self::WrongCode => "wrong_code",
            Self::Throttled => "throttled",
            Self::Overloaded => "overloaded",
        }
    }
}

/// Shows all outcomes as 0 from the start: a counter that first appears with its first sign-in has
/// no increase then.
pub fn expect_none() {
    for outcome in Outcome::ALL {
        outcome.counter().increment(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_of_a_sign_in_has_an_outcome_and_others_have_none() {
        let of = |refused| Outcome::of::<()>(&Err(refused), Outcome::Code);
        assert_eq!(Outcome::of(&Ok(()), Outcome::Code), Some(Outcome::Code));
        for (refused, outcome) in [
            (Refused::SignInFailed, Some(Outcome::WrongPassword)),
            (Refused::WrongCode, Some(Outcome::WrongCode)),
            (
                Refused::TooManyTries { seconds: 2 },
                Some(Outcome::Throttled),
            ),
            (Refused::Overloaded, Some(Outcome::Overloaded)),
            (Refused::Unauthenticated, None),
            (Refused::Internal, None),
        ] {
            assert_eq!(of(refused), outcome);
        }
    }
}
