//! What `up` does before there are threads: it binds, and gives up the rights of root. And what a first start creates: the schema, the
//! master key, the demo.

use std::{fs, io::ErrorKind, net::TcpListener as StdListener, path::PathBuf};

use anyhow::{Context as _, ensure};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use database::Hosts;
use management::SignOn;
use queue::Queue;
use rustix::process::geteuid;
use store::{
    PgPool,
    encryption::MasterKey,
    schema::{self, Compatibility},
};
use tracing::info;
use workers::outbound::{Exemption, HostPort};

use crate::{
    command_line::{self, Means},
    commands::console,
    config::{self, UpOptions},
    data_dir::{self, Audience, DataDir, MASTER_KEY},
    demo::{self, Addresses, Consent},
    demo_file::Demo,
    example_data, logs, service,
    system_account::{self, SystemAccount},
};

/// What can need root.
pub(crate) struct Prepared {
    pub(super) options: UpOptions,
    /// The operator's database. None: a private one.
    pub(super) hosts: Option<Hosts>,
    pub(super) listener: StdListener,
    pub(super) browsers: Option<StdListener>,
    pub(super) monitoring: StdListener,
    /// This binary.
    pub(super) program: PathBuf,
    pub(super) sign_on: Option<SignOn>,
}

/// Binds, gives up root's rights if it has them, and opens the data directory as the remaining
/// user. Call it before there are threads.
pub(crate) fn prepare(mut options: UpOptions) -> anyhow::Result<(DataDir, Prepared)> {
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
    let prepared = Prepared {
        options,
        hosts,
        listener: listener?,
        browsers: browsers?,
        monitoring: monitoring?,
        program,
        sign_on,
    };
    Ok((data, prepared))
}

/// If root runs this process, changes to the account for `up` and gives it the data directory.
/// Other users stay who they are.
fn give_up_root(data_dir: PathBuf, user: Option<&str>) -> anyhow::Result<PathBuf> {
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

/// Finds or creates the demo team, if that is allowed, and the example data, if somebody asked for it.
pub(super) async fn prepare_demo(
    options: &UpOptions,
    data: &DataDir,
    pool: &PgPool,
    queue: &Queue,
    master_key: &MasterKey,
    addresses: Addresses,
    consent: Consent,
) -> anyhow::Result<Option<Demo>> {
    let webhook_url = options.webhook_url.clone();
    // Anyone who starts the process can open any address for the demo.
    let target = webhook_url.as_ref().and_then(HostPort::of);
    let exemption = target.map(|target| Exemption { target, team: None });
    let means = Means {
        master_key: Some(master_key.clone()),
        egress: options.egress.policy(exemption),
        rules: options.rules.limits(),
        rules_per_day: options.http.rules_per_day(),
    };
    let management = command_line::management(pool, queue.clone(), means);
    let prepared = async {
        let demo = demo::prepare(data, &management, consent, addresses, webhook_url).await?;
        if options.demo_data {
            let team = demo.as_ref().map(|demo| demo.team_id);
            example_data::prepare(&management, team, options.demo).await?;
        }
        Ok(demo)
    };
    let demo = prepared.await;
    management.pool.close().await;
    demo
}

/// Upgrades the database to this version's schema, and checks that the master key belongs to it.
pub(super) async fn prepare_database(pool: &PgPool, key: &MasterKey) -> anyhow::Result<()> {
    database::check_server(pool).await?;
    let standing = schema::migrate(pool)
        .await
        .context("cannot upgrade the database to this version's schema")?;
    if standing != Compatibility::Current {
        info!("the schema is {standing}");
    }
    service::check_master_key(&mut *pool.acquire().await?, key).await
}

/// The operator's key, or the key in the data directory, which the first start creates.
pub(super) fn master_key(data: &DataDir) -> anyhow::Result<MasterKey> {
    if let Some(key) = config::master_key()? {
        return Ok(key);
    }
    let path = data.join(MASTER_KEY);
    match fs::read_to_string(&path) {
        Ok(text) => config::parse_master_key(&text)
            .with_context(|| format!("the master key in {} is unusable", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let key: [u8; 32] = rand::random();
            data.write(
                MASTER_KEY,
                format!("{}\n", STANDARD.encode(key)).as_bytes(),
                Audience::Owner,
            )?;
            Ok(MasterKey::new(key))
        }
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}
