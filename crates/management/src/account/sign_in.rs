//! Signing in and out, and giving the password again.

use domain::{
    audit::Action,
    email::Email,
    key::{SecretHash, SessionSecret},
    sign_in_limits::MOST_CODES,
    totp::FactorCode,
};
use serde_json::json;
use store::person::{
    self,
    failed_sign_in::{self, Pair},
    session,
};
use tracing::info;

use super::{Outcome, Own, SignedIn, enter, record, second_factor};
use crate::{AnonymousCaller, Management, Refused, boxed};

/// Signs in a person who gives the right password. [`SignedIn::next`] tells what the session may
/// do.
///
/// # Errors
/// [`Refused::SignInFailed`], also for unknown accounts and disabled people;
/// [`Refused::TooManyTries`]; [`Refused::Overloaded`] while too many passwords are being compared.
#[boxed]
pub async fn sign_in(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    email: &str,
    password: &str,
) -> Result<SignedIn, Refused> {
    let signed_in = enter_with_password(management, anonymous_caller, email, password).await;
    if let Some(outcome) = Outcome::of(&signed_in, Outcome::Password) {
        outcome.count();
    }
    signed_in
}

async fn enter_with_password(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    email: &str,
    password: &str,
) -> Result<SignedIn, Refused> {
    let Ok(email) = email.trim().parse::<Email>() else {
        return Err(Refused::SignInFailed);
    };
    let mut conn = management
        .pool
        .acquire()
        .await
        .map_err(store::Error::from)?;
    let account = person::account(&mut conn, &email).await?;
    // No request holds a connection while it waits for its turn.
    drop(conn);
    let pair = Pair::of(email.as_str(), fair_share::client(anonymous_caller.address));
    let is_right = management
        .is_password(anonymous_caller.address, pair, password, account.as_ref())
        .await?;
    let Some(account) = account.filter(|_| is_right) else {
        info!(address = %anonymous_caller.address, "a sign-in failed");
        return Err(Refused::SignInFailed);
    };
    let mut tx = management.begin().await?;
    let now = person::lock_account(&mut tx, account.user).await?;
    let is_somebody = person::is_somebody(&mut tx, account.user).await?;
    // The password was changed while it was compared, or the person is in no team. A person who has only what the provider of
    // single sign-on grants sees nothing of it in this session, but can connect the account with the provider again.
    if now.password_hash != account.password_hash || !is_somebody {
        return Err(Refused::SignInFailed);
    }
    failed_sign_in::forget(&mut tx, pair).await?;
    let signed_in = enter(&mut tx, anonymous_caller, &now).await?;
    let details = json!({ "address": anonymous_caller.address });
    let target = signed_in.session.as_uuid();
    record(
        &mut tx,
        now.user,
        anonymous_caller,
        Action::SessionCreate,
        target,
        &details,
    )
    .await?;
    tx.commit().await.map_err(store::Error::from)?;
    Ok(signed_in)
}

/// Takes the code of the second factor, or a recovery code. The session gets a new secret, and may
/// then do what the person may. After five wrong codes, the session is over.
///
/// # Errors
/// The session is over, the person has no second factor, the code is wrong or was used before, or
/// there were too many tries.
#[boxed]
pub async fn give_code(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    session: SecretHash,
    code: &str,
) -> Result<SessionSecret, Refused> {
    let given = raise_with_code(management, anonymous_caller, session, code).await;
    if let Some(outcome) = Outcome::of(&given, Outcome::Code) {
        outcome.count();
    }
    given
}

async fn raise_with_code(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    session: SecretHash,
    code: &str,
) -> Result<SessionSecret, Refused> {
    let held = management.own_unproved(session).await?.held;
    if !held.has_factor {
        return Err(Refused::WrongCode);
    }
    let name = second_factor::throttled(held.user);
    let pair = Pair::of(&name, fair_share::client(anonymous_caller.address));
    management.count_try(pair).await?;
    let anywhere = Pair::anywhere(&name);
    management.count_try(anywhere).await?;
    let mut own = management.own_unproved(session).await?;
    let user = own.held.user;
    let code = code.parse::<FactorCode>().ok();
    let accepted = match &code {
        Some(code) => second_factor::accept(&mut own.tx, management, user, code).await?,
        None => false,
    };
    if !accepted {
        info!(address = %anonymous_caller.address, "a code of a second factor was wrong");
        count_wrong_code(own, anonymous_caller).await?;
        return Err(Refused::WrongCode);
    }
    failed_sign_in::forget(&mut own.tx, pair).await?;
    failed_sign_in::forget(&mut own.tx, anywhere).await?;
    let secret = session::raise(&mut own.tx, own.held.id).await?;
    if let Some(FactorCode::Recovery(_)) = code {
        let left = person::second_factor::recovery_codes_left(&mut own.tx, user).await?;
        let details = json!({ "left": left });
        let action = Action::RecoveryCodeUse;
        own.done(anonymous_caller, action, user.as_uuid(), &details)
            .await?;
    } else {
        own.tx.commit().await.map_err(store::Error::from)?;
    }
    Ok(secret)
}

/// Counts a wrong code, and ends the session after the fifth. The audit log records this, because
/// the password was right.
async fn count_wrong_code(mut own: Own, anonymous_caller: &AnonymousCaller) -> Result<(), Refused> {
    let session = own.held.id;
    let failed = session::count_wrong_code(&mut own.tx, session).await?;
    if failed < MOST_CODES {
        return Ok(own.tx.commit().await.map_err(store::Error::from)?);
    }
    session::end(&mut own.tx, own.held.user, session).await?;
    let details = json!({ "wrong_codes": failed, "address": anonymous_caller.address });
    own.done(
        anonymous_caller,
        Action::SessionEnd,
        session.as_uuid(),
        &details,
    )
    .await
}

/// Ends the session. It is no error if the session is over already, because the browser forgets it
/// in any case.
///
/// # Errors
/// The database failed.
#[boxed]
pub async fn sign_out(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    session: SecretHash,
) -> Result<(), Refused> {
    let mut own = match management.own_unproved(session).await {
        Ok(own) => own,
        Err(Refused::Unauthenticated) => return Ok(()),
        Err(error) => return Err(error),
    };
    let ended = own.held.id;
    session::end(&mut own.tx, own.held.user, ended).await?;
    own.done(
        anonymous_caller,
        Action::SessionEnd,
        ended.as_uuid(),
        &json!({}),
    )
    .await
}

/// Takes the password again, which allows delicate changes for 10 minutes.
///
/// # Errors
/// The session is over or lacks its second factor, the password is wrong, or there were too many
/// tries.
#[boxed]
pub async fn give_password(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    session: SecretHash,
    password: &str,
) -> Result<(), Refused> {
    let user = management.own(session).await?.held.user;
    let account = management.account_of(user).await?;
    let pair = Pair::of(&account.email, fair_share::client(anonymous_caller.address));
    if !management
        .is_password(anonymous_caller.address, pair, password, Some(&account))
        .await?
    {
        return Err(Refused::SignInFailed);
    }
    let mut own = management.own(session).await?;
    let now = person::lock_account(&mut own.tx, user).await?;
    if now.password_hash != account.password_hash {
        return Err(Refused::SignInFailed);
    }
    failed_sign_in::forget(&mut own.tx, pair).await?;
    session::note_password(&mut own.tx, own.held.id).await?;
    Ok(own.tx.commit().await.map_err(store::Error::from)?)
}

/// Changes the password. All other sessions of the person end, and links to a new password stop
/// working.
///
/// # Errors
/// As for [`give_password`], or the new password cannot be chosen.
#[boxed]
pub async fn change_password(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    session: SecretHash,
    current: &str,
    new: &str,
) -> Result<(), Refused> {
    give_password(management, anonymous_caller, session, current).await?;
    let user = management.own(session).await?.held.user;
    let account = management.account_of(user).await?;
    let email = account.email.parse::<Email>();
    let email = email.map_err(|error| store::Error::Unreadable(error.to_string()))?;
    let hash = management
        .choose(anonymous_caller.address, &email, new)
        .await?;
    let mut own = management.own(session).await?;
    own.require_recent_password()?;
    person::set_password(&mut own.tx, user, &hash).await?;
    person::one_time_link::cancel_resets(&mut own.tx, user).await?;
    session::end_all(&mut own.tx, user, Some(own.held.id)).await?;
    own.done(
        anonymous_caller,
        Action::PasswordChange,
        user.as_uuid(),
        &json!({}),
    )
    .await
}
