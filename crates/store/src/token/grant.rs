//! What the holder of a credential may do, and the transactions that begin by looking it up.

use chrono::{DateTime, Utc};
use domain::{actor::Actor, id::TeamId, key::SecretHash, reach::Reach, scope::Scope};
use sqlx::{PgPool, PgTransaction};

use super::known;
use crate::Error;

/// What the holder of a valid credential may do.
#[derive(Clone, Debug)]
pub struct Grant {
    /// Who it is.
    pub actor: Actor,
    /// In which teams.
    pub reach: Reach,
    /// What it may do there.
    pub scopes: Vec<Scope>,
    /// When it expires, if ever.
    pub expires_at: Option<DateTime<Utc>>,
    /// How many tokens are above it, each created by the next. 0 for the command line.
    pub generation: u16,
    /// Whether its only team is closed, so that little can be changed in it.
    pub is_closed: bool,
}

/// How many tokens may be above one, each created by the next. The database has the same bound.
pub const LAST_GENERATION: u16 = 100;

impl Grant {
    /// The command line: anyone with access to the database can do everything.
    pub fn command_line() -> Self {
        Self {
            actor: Actor::CommandLine,
            reach: Reach::Everything,
            scopes: Scope::ALL.to_vec(),
            expires_at: None,
            generation: 0,
            is_closed: false,
        }
    }

    /// Until when a token is valid that this one creates: until this one expires, or until a given
    /// time.
    ///
    /// # Errors
    /// The end of this token, when the given time is after it: no token outlives its creator.
    pub fn expiry_of_child(
        &self,
        wanted: Option<DateTime<Utc>>,
    ) -> Result<Option<DateTime<Utc>>, DateTime<Utc>> {
        match (wanted, self.expires_at) {
            (Some(wanted), Some(own)) if wanted > own => Err(own),
            (wanted, own) => Ok(wanted.or(own)),
        }
    }
}

/// What the holder of a token may do, read in a transaction that is then given back with it.
macro_rules! granted {
    ($tx:ident, $lock:literal, $hash:expr) => {{
        let row = sqlx::query!(
            r#"
        select
            id, team_id, scopes, expires_at, generation,
            exists (select from teams t where t.id = team_id and t.closed_at is not null) as "is_closed!"
        from management_tokens
        where hash = $1 and disabled_at is null and (expires_at is null or expires_at > now())
        "# + $lock,
            $hash.as_bytes(),
        )
        .fetch_optional(&mut *$tx)
        .await?;
        Ok(row.map(|row| {
            let grant = Grant {
                actor: Actor::Token(row.id.into()),
                reach: row.team_id.map(TeamId::from).into(),
                scopes: known(&row.scopes),
                expires_at: row.expires_at,
                generation: row.generation.unsigned_abs(),
                is_closed: row.is_closed,
            };
            ($tx, grant)
        }))
    }};
}

/// Begins a transaction in which the holder of a token looks at things, all of them as they are at
/// one moment. None: the token is unknown, disabled or expired.
pub async fn begin_reading(
    pool: &PgPool,
    hash: SecretHash,
) -> Result<Option<(PgTransaction<'static>, Grant)>, Error> {
    let mut tx = pool
        .begin_with("begin isolation level repeatable read, read only")
        .await?;
    granted!(tx, "", hash)
}

/// Begins a transaction in which the holder of a token changes something. Disabling the token waits
/// until the transaction has ended, so that a disabled token changes nothing. None: the token is
/// unknown, disabled or expired.
pub async fn begin_changing(
    pool: &PgPool,
    hash: SecretHash,
) -> Result<Option<(PgTransaction<'static>, Grant)>, Error> {
    let mut tx = pool.begin().await?;
    granted!(
        tx,
        "for share
        ",
        hash
    )
}
