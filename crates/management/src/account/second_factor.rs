//! The second factor: setting one up, removing it, and recovery codes.

use std::fmt;

use chrono::Utc;
use domain::{
    audit::Action,
    id::UserId,
    key::{SecretHash, SessionSecret},
    totp::{FactorCode, RECOVERY_CODES, RecoveryCode, TotpSecret},
};
use serde_json::json;
use store::{
    PgConnection, encryption,
    person::{
        self, credentials,
        failed_sign_in::{self, Pair},
        session,
    },
};

use super::Own;
use crate::{AnonymousCaller, Conflict, Management, Refused, boxed};

/// The name that apps show beside the codes.
const ISSUER: &str = "Gatehouse";

/// What a person enters into an authenticator app. It is shown once.
pub struct SetUp {
    /// The secret.
    pub secret: TotpSecret,
    /// The same as a URI, for a QR code.
    pub uri: String,
}

impl fmt::Debug for SetUp {
    /// Without the URI, which contains the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetUp").finish_non_exhaustive()
    }
}

/// A factor that was set up.
#[derive(Debug)]
pub struct Confirmed {
    /// The new secret for the browser.
    pub secret: SessionSecret,
    /// Each of these codes replaces the factor once. They are shown once.
    pub recovery_codes: Vec<RecoveryCode>,
}

/// Begins to set up a second factor. It counts only after [`confirm`] got its first code. Beginning
/// again replaces the secret.
///
/// # Errors
/// The session is over, the password was given too long ago, or the person has a second factor.
#[boxed]
pub async fn set_up(management: &Management, session: SecretHash) -> Result<SetUp, Refused> {
    let mut own = new_factor(management, session).await?;
    let user = own.held.user;
    let account = person::lock_account(&mut own.tx, user).await?;
    let secret = TotpSecret::generate(rand::random());
    let key = management.master_key()?;
    // A secret that is sealed with the key of another database would be lost.
    encryption::check_master_key(&mut own.tx, key).await?;
    person::second_factor::prepare(&mut own.tx, key, user, &secret).await?;
    own.tx.commit().await.map_err(store::Error::from)?;
    Ok(SetUp {
        uri: secret.uri(ISSUER, &account.email),
        secret,
    })
}

/// Completes the second factor with its first code. The session gets a new secret, and all other
/// sessions of the person must give a code from now on.
///
/// # Errors
/// As for [`set_up`]; nothing was begun; the code is wrong; or there were too many tries.
#[boxed]
pub async fn confirm(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    session: SecretHash,
    code: &str,
) -> Result<Confirmed, Refused> {
    let user = new_factor(management, session).await?.held.user;
    let pair = Pair::of(
        &throttled(user),
        fair_share::client(anonymous_caller.address),
    );
    management.count_try(pair).await?;
    let mut own = new_factor(management, session).await?;
    let key = management.master_key()?;
    let begun = person::second_factor::secret(&mut own.tx, key, user, false).await?;
    let step = match (begun, code.parse()) {
        (Some(secret), Ok(FactorCode::Totp(code))) => secret.step_of(code, Utc::now()),
        _ => None,
    };
    let is_right = match step {
        Some(step) => person::second_factor::accept(&mut own.tx, user, step).await?,
        None => false,
    };
    if !is_right {
        return Err(Refused::WrongCode);
    }
    failed_sign_in::forget(&mut own.tx, pair).await?;
    session::lower_all(&mut own.tx, user).await?;
    let secret = session::raise(&mut own.tx, own.held.id).await?;
    let recovery_codes = renew(&mut own.tx, user).await?;
    own.done(
        anonymous_caller,
        Action::FactorCreate,
        user.as_uuid(),
        &json!({}),
    )
    .await?;
    Ok(Confirmed {
        secret,
        recovery_codes,
    })
}

/// Removes the second factor. Everything ends that could sign in beside the password and this session: other sessions,
/// identities at providers (but the one with which this session began), recovery codes, and links to a new password. A
/// person who needs a second factor can then only set up another one.
///
/// # Errors
/// The session is over or lacks the factor, or the password was given too long ago.
#[boxed]
pub async fn remove(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    session: SecretHash,
) -> Result<(), Refused> {
    let mut own = management.own(session).await?;
    own.require_recent_password()?;
    let user = own.held.user;
    let ended = credentials::end_others(&mut own.tx, user, Some(own.held.id)).await?;
    if !person::second_factor::remove(&mut own.tx, user).await? {
        return Ok(());
    }
    session::lower_all(&mut own.tx, user).await?;
    let details = json!(ended);
    own.done(
        anonymous_caller,
        Action::FactorDelete,
        user.as_uuid(),
        &details,
    )
    .await
}

/// Makes new recovery codes. The earlier ones stop working.
///
/// # Errors
/// As for [`remove`], or the person has no second factor.
#[boxed]
pub async fn renew_recovery_codes(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    session: SecretHash,
) -> Result<Vec<RecoveryCode>, Refused> {
    let mut own = management.own(session).await?;
    own.require_recent_password()?;
    if !own.held.has_factor {
        return Err(crate::session::factor_set_up_required());
    }
    let user = own.held.user;
    let codes = renew(&mut own.tx, user).await?;
    let action = Action::RecoveryCodesCreate;
    own.done(anonymous_caller, action, user.as_uuid(), &json!({}))
        .await?;
    Ok(codes)
}

/// The name under which tries of a person's codes are counted.
pub(super) fn throttled(user: UserId) -> String {
    format!("factor:{user}")
}

/// Whether a code is right. A right code is used up.
pub(super) async fn accept(
    conn: &mut PgConnection,
    management: &Management,
    user: UserId,
    code: &FactorCode,
) -> Result<bool, Refused> {
    match code {
        FactorCode::Totp(code) => {
            let key = management.master_key()?;
            let secret = person::second_factor::secret(conn, key, user, true).await?;
            let step = secret.and_then(|secret| secret.step_of(*code, Utc::now()));
            match step {
                Some(step) => Ok(person::second_factor::accept(conn, user, step).await?),
                None => Ok(false),
            }
        }
        FactorCode::Recovery(code) => {
            Ok(person::second_factor::use_recovery_code(conn, user, code.hash(user)).await?)
        }
    }
}

/// Begins a change in a session whose owner may set up a factor.
async fn new_factor(management: &Management, session: SecretHash) -> Result<Own, Refused> {
    let own = management.own_unproved(session).await?;
    if own.held.has_factor {
        return Err(Refused::conflict(
            Conflict::FactorExists,
            "You have a second factor: remove it before you set up another one.",
        ));
    }
    own.require_recent_password()?;
    Ok(own)
}

async fn renew(conn: &mut PgConnection, user: UserId) -> Result<Vec<RecoveryCode>, Refused> {
    let codes: Vec<RecoveryCode> = (0..RECOVERY_CODES)
        .map(|_| RecoveryCode::generate(rand::random()))
        .collect();
    let hashes: Vec<SecretHash> = codes.iter().map(|code| code.hash(user)).collect();
    person::second_factor::set_recovery_codes(conn, user, &hashes).await?;
    Ok(codes)
}
