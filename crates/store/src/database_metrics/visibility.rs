//! The visibility of metrics: what Postgres hides from a role. It reports some of this as nothing at all, which would read as 0.

use sqlx::PgConnection;

use crate::Error;

/// What a connection can see of its server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting or a right of its own"
)]
pub struct Visibility {
    /// Its role, as SQL names it.
    pub role: String,
    /// Whether it sees the transactions of all roles.
    pub has_all_stats: bool,
    /// Whether sessions report their transactions (`track_activities`).
    pub tracks_activities: bool,
    /// Whether the server counts rows (`track_counts`).
    pub tracks_counts: bool,
    /// Whether it may list the files of the write-ahead log.
    pub lists_wal: bool,
    /// Whether the server archives its write-ahead log (`archive_mode`).
    pub archives: bool,
    /// How much the server writes into its own log about an error (`log_error_verbosity`).
    pub error_verbosity: String,
}

/// Something that a connection cannot see, and about which it has no figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blind {
    /// How long transactions have been open.
    Transactions(String),
    /// How many dead rows there are.
    DeadTuples(String),
    /// How large the files of the write-ahead log are.
    WalFiles(String),
}

impl Visibility {
    /// Whether it can see the oldest transaction.
    pub(super) const fn sees_transactions(&self) -> bool {
        self.has_all_stats && self.tracks_activities
    }

    /// Everything that it cannot see, each with what an administrator can do.
    pub fn blind(&self) -> Vec<Blind> {
        let role = &self.role;
        let mut blind = Vec::new();
        if !self.tracks_activities {
            blind.push(Blind::Transactions(
                "the server does not track transactions: set `track_activities = on`".to_owned(),
            ));
        } else if !self.has_all_stats {
            blind.push(Blind::Transactions(format!(
                "the role {role} does not see the transactions of other roles: as an administrator, run `grant pg_read_all_stats to {role}`"
            )));
        }
        if !self.tracks_counts {
            blind.push(Blind::DeadTuples(
                "the server does not count rows: set `track_counts = on`".to_owned(),
            ));
        }
        if !self.lists_wal {
            blind.push(Blind::WalFiles(format!(
                "the role {role} may not list the files in pg_wal: as an administrator, run `grant pg_monitor to {role}`, or `grant execute \
                 on function pg_ls_waldir() to {role}` in this database"
            )));
        }
        blind
    }
}

/// Finds out what a connection can see.
pub async fn visibility(conn: &mut PgConnection) -> Result<Visibility, Error> {
    Ok(sqlx::query_as!(
        Visibility,
        r#"
        select
            quote_ident(current_user) as "role!",
            pg_has_role('pg_read_all_stats', 'usage') as "has_all_stats!",
            current_setting('track_activities')::boolean as "tracks_activities!",
            current_setting('track_counts')::boolean as "tracks_counts!",
            has_function_privilege('pg_ls_waldir()', 'execute') as "lists_wal!",
            current_setting('archive_mode') <> 'off' as "archives!",
            current_setting('log_error_verbosity') as "error_verbosity!"
        "#
    )
    .fetch_one(conn)
    .await?)
}
