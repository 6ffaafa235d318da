//! Everything that a measurement runs on: scratch directory, Postgres, Gatehouse's processes, webhook receiver and sites.

use std::{fs, path::PathBuf};

use anyhow::{Context as _, ensure};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use clap::Args;
use store::encryption::MasterKey;

use crate::{
    cluster::Role,
    environment::{Environment, EnvironmentOptions},
    processes::{Gatehouse, Kind, Process},
    receiver::{Manners, Receiver},
    sites::{self, Site, Tenants},
    tcp_relay::Relay,
};

/// Options of every command that runs Gatehouse.
#[derive(Clone, Debug, Args)]
pub(crate) struct CommonOptions {
    #[command(flatten)]
    pub(crate) environment: EnvironmentOptions,
    /// The binary to measure [default: gatehouse beside this program]
    #[arg(long)]
    binary: Option<PathBuf>,
    /// The seed of texts and random choices [default: random, and printed]
    #[arg(long)]
    seed: Option<u64>,
}

impl CommonOptions {
    /// The same for another binary.
    pub(crate) fn with_binary(&self, binary: PathBuf) -> Self {
        Self {
            binary: Some(binary),
            ..self.clone()
        }
    }

    /// The seed of this run.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
            .unwrap_or_else(|| rand::random_range(0..1_000_000))
    }
}

/// What a command needs running.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) apis: usize,
    pub(crate) workers: usize,
    pub(crate) tenants: Tenants,
    /// How long a worker may be silent before its jobs go to others.
    pub(crate) lease_seconds: u64,
    pub(crate) manners: Manners,
}

impl Shape {
    /// One team with so many sites, and so many processes of each kind.
    pub(crate) fn of_one_team(processes: usize, sites: usize) -> Self {
        Self {
            apis: processes,
            workers: processes,
            tenants: Tenants {
                sites,
                sites_per_team: sites,
            },
            lease_seconds: 30,
            manners: Manners::default(),
        }
    }
}

/// Variables with which no client of the management interface is told to wait.
pub(crate) fn without_pauses() -> [(&'static str, String); 3] {
    [
        "GATEHOUSE_MANAGEMENT_REQUESTS_PER_TOKEN",
        "GATEHOUSE_MANAGEMENT_REQUESTS_PER_TEAM",
        "GATEHOUSE_MANAGEMENT_REQUESTS_PER_ADDRESS",
    ]
    .map(|name| (name, "1000000".to_owned()))
}

/// What the processes need in addition to what all measurements need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    /// What webhooks and images by URL may reach, in the form of `--egress-allow`.
    pub(crate) egress_allow: Vec<String>,
    /// Further variables of all processes.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// How many files a process may have open; `None` leaves what the system allows.
    pub(crate) descriptors: Option<u64>,
}

/// All of it. Dropping it ends the processes, then Postgres, and removes the files.
pub(crate) struct Stack {
    pub(crate) apis: Vec<Process>,
    pub(crate) workers: Vec<Process>,
    pub(crate) gatehouse: Gatehouse,
    pub(crate) environment: Environment,
    pub(crate) receiver: Receiver,
    pub(crate) relay: Option<Relay>,
    pub(crate) sites: Vec<Site>,
}

impl Stack {
    /// Starts everything and waits until it is ready.
    pub(crate) async fn start(
        options: &CommonOptions,
        shape: Shape,
        seed: u64,
    ) -> anyhow::Result<Self> {
        Self::start_in(Surroundings::default(), options, shape, seed).await
    }

    /// Starts everything in these surroundings and waits until it is ready.
    pub(crate) async fn start_in(
        surroundings: Surroundings,
        options: &CommonOptions,
        shape: Shape,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let environment = Environment::start(&options.environment).await?;
        let url = environment.cluster.url(Role::Gatehouse);
        Self::start_on(environment, url, surroundings, options, shape, seed).await
    }

    /// Keeps the database and the logs, and says where, unless the measurement holds.
    pub(crate) fn kept_unless(&mut self, holds: bool) {
        if !holds {
            let kept = self.environment.keep();
            eprintln!("database and logs are kept in {}", kept.display());
        }
    }

    /// Starts everything else on a running database. The processes get this URL.
    pub(crate) async fn start_on(
        environment: Environment,
        database_url: String,
        surroundings: Surroundings,
        options: &CommonOptions,
        shape: Shape,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let (mut stack, master_key) = Self::prepare(
            environment,
            database_url,
            surroundings,
            options,
            shape,
            seed,
        )
        .await?;
        stack.gatehouse.run(&["migrate"]).await?;
        let mut conn = stack.environment.cluster.connect().await?;
        stack.sites = sites::set_up(&mut conn, &master_key, &stack.receiver, shape.tenants).await?;
        for number in 0..shape.apis {
            let api = stack.gatehouse.start(Kind::Api, number).await?;
            stack.apis.push(api);
        }
        for number in 0..shape.workers {
            let worker = stack.gatehouse.start(Kind::Worker, number).await?;
            stack.workers.push(worker);
        }
        Ok(stack)
    }

    /// Everything but the schema, the sites and the processes, and the master key.
    pub(crate) async fn prepare(
        environment: Environment,
        database_url: String,
        surroundings: Surroundings,
        options: &CommonOptions,
        shape: Shape,
        seed: u64,
    ) -> anyhow::Result<(Self, MasterKey)> {
        let binary = match &options.binary {
            Some(binary) => {
                fs::canonicalize(binary).with_context(|| format!("no {}", binary.display()))?
            }
            None => std::env::current_exe()?.with_file_name("gatehouse"),
        };
        ensure!(
            binary.exists(),
            "no {}: build it, or name one with --binary",
            binary.display()
        );
        let mut receiver = Receiver::start(shape.manners, seed).await?;
        let relay = if shape.manners.mortal {
            Some(Relay::start(receiver.address()).await?)
        } else {
            None
        };
        let public = relay.as_ref().map_or(receiver.address(), Relay::address);
        receiver.move_behind(public);
        let mut egress_allow = surroundings.egress_allow;
        egress_allow.push(public.to_string());
        let master_key: [u8; 32] = rand::random();
        let mut variables = surroundings.environment;
        variables.extend([
            ("PATH", "/usr/bin:/bin".to_owned()),
            ("DATABASE_URL", database_url),
            ("GATEHOUSE_MASTER_KEY", BASE64.encode(master_key)),
            ("GATEHOUSE_LEASE_SECONDS", shape.lease_seconds.to_string()),
            ("GATEHOUSE_EGRESS_ALLOW", egress_allow.join(",")),
            ("GATEHOUSE_LOG_FORMAT", "json".to_owned()),
        ]);
        let gatehouse = Gatehouse {
            binary,
            environment: variables,
            logs: environment.directory(),
            descriptors: surroundings.descriptors,
        };
        let stack = Self {
            apis: Vec::new(),
            workers: Vec::new(),
            gatehouse,
            environment,
            receiver,
            relay,
            sites: Vec::new(),
        };
        Ok((stack, MasterKey::new(master_key)))
    }

    /// Every process of Gatehouse.
    pub(crate) fn processes(&mut self) -> impl Iterator<Item = &mut Process> {
        self.apis.iter_mut().chain(&mut self.workers)
    }

    /// A file of the benchmark's own for another program to read.
    pub(crate) fn write(&self, name: &str, content: &str) -> anyhow::Result<PathBuf> {
        let path = self.environment.directory().join(name);
        fs::write(&path, content)?;
        Ok(path)
    }
}
