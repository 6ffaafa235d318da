//! What a first start creates: the schema, the master key, the demo.

use std::{fs, io::ErrorKind};

use anyhow::Context as _;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use queue::Queue;
use store::{
    PgPool,
    encryption::MasterKey,
    schema::{self, Compatibility},
};
use tracing::info;
use workers::outbound::{Exemption, HostPort};

use crate::{
    command_line::{self, Means},
    config::{self, UpOptions},
    data_dir::{Audience, DataDir, MASTER_KEY},
    demo::{self, Addresses, Consent},
    demo_file::Demo,
    example_data, service,
};

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
