//! The configuration of the private Postgres, written at every start.

use std::path::Path;

use super::{NAME, socket::PORT};
use crate::{data_dir::DataDir, embedded_postgres::binaries::Binaries};

pub(super) const CONFIGURATION: &str = "postgres.conf";

pub(super) const ACCESS: &str = "postgres.hba.conf";

pub(super) const IDENTITIES: &str = "postgres.ident.conf";

pub(super) fn configuration(data: &DataDir, binaries: &Binaries, socket: &Path) -> String {
    let statistics = if binaries.has_library("pg_stat_statements") {
        "pg_stat_statements"
    } else {
        ""
    };
    format!(
        "# Written by Gatehouse at every start; put changes into postgres.local.conf beside this file.

max_connections = 200
shared_buffers = 256MB
effective_cache_size = 1GB
work_mem = 8MB
maintenance_work_mem = 128MB
shared_preload_libraries = '{statistics}'

# Short statements on a few hot tables: compiling or splitting them costs more than it saves.
jit = off
max_parallel_workers_per_gather = 0
random_page_cost = 1.1

# Few, large checkpoints: a page is logged whole only once after each.
checkpoint_timeout = 15min
max_wal_size = 2GB
min_wal_size = 256MB
wal_buffers = 16MB

# A queue table turns over quickly: look for dead rows often.
autovacuum_naptime = 10s

timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
log_line_prefix = ''
log_checkpoints = off

include_if_exists = 'postgres.local.conf'

# From here on nothing is a matter of taste: what was answered with 200 survives a power cut,
fsync = on
synchronous_commit = on
full_page_writes = on
# nobody but the owner of this directory gets in,
listen_addresses = ''
port = {PORT}
unix_socket_directories = {socket}
unix_socket_permissions = 0700
hba_file = {access}
ident_file = {identities}
# and Gatehouse reads what Postgres says, which has no texts of items: the DETAIL of an error has the values of a row.
log_destination = 'stderr'
logging_collector = off
log_error_verbosity = terse
log_parameter_max_length_on_error = 0
",
        socket = quoted(socket),
        access = quoted(&data.join(ACCESS)),
        identities = quoted(&data.join(IDENTITIES)),
    )
}

pub(super) fn access() -> String {
    format!("local all all peer map={NAME}\nlocal replication all peer map={NAME}\n")
}

/// The user who runs Gatehouse can connect as the owner of the database. So can root, who can
/// become any user anyway.
pub(super) fn identities(user: &str) -> String {
    [user, "root"]
        .map(|name| format!("{NAME} \"{name}\" {NAME}\n"))
        .concat()
}

pub(super) fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "''"))
}
