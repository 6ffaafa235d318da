//! What `up` does before there are threads: it binds, and gives up the rights of root.

use std::{net::TcpListener as StdListener, path::PathBuf};

use anyhow::ensure;
use database::Hosts;
use management::SignOn;
use rustix::process::geteuid;
use tracing::info;

use super::super::console;
use crate::{
    config::{self, UpOptions},
    data_dir::{self, DataDir},
    logs, service,
    system_account::{self, SystemAccount},
};

/// What can need root: the listeners and the data directory.
pub(crate) struct Prepared {
    pub(super) options: UpOptions,
    /// The operator's database. None: a private one.
    pub(super) hosts: Option<Hosts>,
    pub(super) data: DataDir,
    pub(super) listener: StdListener,
    pub(super) browsers: Option<StdListener>,
    pub(super) monitoring: StdListener,
    /// This binary.
    pub(super) program: PathBuf,
    pub(super) sign_on: Option<SignOn>,
}

/// Binds, gives up root's rights if it has them, and opens the data directory as the remaining
/// user. Call it before there are threads.
pub(crate) fn prepare(mut options: UpOptions) -> anyhow::Result<Prepared> {
    logs::start()?;
    super::super::warn_of_unknown_variables(options.work.providers.file());
    // Only root may be able to read the file with its URL.
    let hosts = config::database_hosts(options.database_url.as_deref())?;
    let path = match options.data_dir.take() {
        Some(path) => path,
        None => config::default_data_dir()?,
    };
    // Without root's rights, the system no longer says it.
    let program = config::own_program()?;
    let listener = service::bind(options.listen.listen, "--listen");
    let browsers = console::bind(&options.console);
    let monitoring = service::bind(options.metrics.metrics_listen, "--metrics-listen");
    // Only root may be able to read the client's secret.
    let sign_on = console::sign_on(&options.console)?;
    let path = give_up_root(path, options.user.as_deref())?;
    // If another Gatehouse runs here, report that rather than the address in use.
    let data = DataDir::open(&path)?;
    Ok(Prepared {
        options,
        hosts,
        data,
        listener: listener?,
        browsers: browsers?,
        monitoring: monitoring?,
        program,
        sign_on,
    })
}

/// If root runs this process, changes to the account for `up` and gives it the data directory.
/// Other users stay who they are.
pub(super) fn give_up_root(data_dir: PathBuf, user: Option<&str>) -> anyhow::Result<PathBuf> {
    if !geteuid().is_root() {
        if let Some(user) = user {
            let current = SystemAccount::current()?;
            ensure!(
                user == current.name(),
                "only root can start `gatehouse up` for another user: start it as `{user}`, or omit --user"
            );
        }
        return Ok(data_dir);
    }
    let account = SystemAccount::for_root(user.unwrap_or(system_account::DEFAULT))?;
    let data_dir = data_dir::create_as_root(&data_dir, &account)?;
    account.assume()?;
    info!(user = account.name(), "gave up root's rights");
    Ok(data_dir)
}
