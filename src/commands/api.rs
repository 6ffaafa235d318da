//! `gatehouse api`: the HTTP interfaces.

use std::{sync::Arc, time::Duration};

use ::api::{ProblemDocuments, Readiness, main_listener::Interface, public::Public};
use database::Clock;
use domain::{media::ModerationType, submission::SubmissionLimits};
use http_server::serve;
use management::{
    Analyse, Analysed, EndpointChecks, MakePreview, Management, Passwords, PreviewPool, RateLimit,
    RateLimitSettings, SignOn, TrialPool, exports::ConcurrentReads,
};
use metrics::gauge;
use queue::Queue;
use store::{
    PgPool,
    accept::Acceptor,
    encryption::MasterKey,
    item_status::Statuses,
    jobs,
    rate_limit::Rates,
    site::Sites,
    verdict,
    verdict_waiters::{Part, VerdictWaiters},
};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use workers::{
    analysis::analyse_sample,
    outbound::{Bounds, Outbound},
    provider::Providers,
    webhooks::ping::ping,
};

use super::console;
use crate::{
    config::{self, ApiOptions, HttpOptions},
    logs,
    open_files::{self, Wanted},
    otlp::Export,
    preview_sandbox, prometheus, service,
};

/// Database connections of the management interface. It has its own, so that it never takes those
/// of the public interface.
const MANAGEMENT_CONNECTIONS: u32 = 4;
/// The connections to Postgres beside the pool: those of the management interface, one that listens
/// for rates, and one for verdicts.
pub(super) const INTERFACE_CONNECTIONS: usize = MANAGEMENT_CONNECTIONS as usize + 2;
/// These connections, and the pipes to darkrooms.
pub(super) const INTERFACE_FILES: usize = INTERFACE_CONNECTIONS + DARKROOM_FILES;
/// Four darkrooms at once, with two pipes each and what starting one takes for a moment.
const DARKROOM_FILES: usize = 4 * 8;
/// Connections for tests of endpoints: 16 tests run at once, and with twice as many connections no
/// team waits. Tests are rare, so no idle connections are kept.
const TESTS: Bounds = Bounds {
    connections: 32,
    idle: 0,
    lookups: 8,
};
/// How long the queue may take to close when the process stops. This process runs no jobs.
const CLOSE: Duration = Duration::from_secs(5);

/// How long connections are still accepted after a signal to stop. Load balancers check every few
/// seconds. It is the default because refused requests are worse than a stop that takes longer.
const DRAIN: Duration = Duration::from_secs(5);

/// Runs until it is told to stop.
pub(crate) async fn run(options: ApiOptions) -> anyhow::Result<()> {
    logs::start()?;
    service::warn_root();
    super::warn_of_unknown_variables(None);
    let program = config::own_program()?;
    let key = config::required_master_key()?;
    let hosts = options.database.database()?.hosts;
    let settings = options.database.pool.settings();
    let pool = database::pool(&hosts, "gatehouse api", settings);
    let listener = TcpListener::from_std(service::bind(options.listen.listen, "--listen")?)?;
    let browsers = console::bind(&options.console)?;
    let sign_on = console::sign_on(&options.console)?;
    let monitoring = service::bind(options.metrics.metrics_listen, "--metrics-listen")?;
    let monitoring = TcpListener::from_std(monitoring)?;
    let connections = service::own_connections(options.database.pool) + INTERFACE_CONNECTIONS;
    let process = service::process_name("api", monitoring.local_addr()?, connections);
    let metrics = prometheus::start("api")?;
    let export = Export::start(&options.otlp)?;
    let stop = service::stop_signal()?;
    let (ready, readiness) = watch::channel(service::starting());
    service::tell_systemd(readiness.clone(), stop.clone());

    let queue = queue::Config {
        queues: &jobs::ALL,
        lane_caps: &jobs::LANE_CAPS,
        ..queue::Config::default()
    };
    let queue = Queue::open_later(pool.clone(), queue, process)?;
    let figures = prometheus::publish_figures(&pool, &queue);
    let files = open_files::divide(Wanted {
        clients: options.http.connections(),
        browsers: browsers.as_ref().map_or(0, |_| console::CONNECTIONS),
        outbound: TESTS,
        own: service::own_files(options.database.pool) + INTERFACE_FILES,
    })?;
    let database = database::watch(hosts, pool.clone());
    let outbound = Outbound::new(options.egress.policy(None), files.outbound);
    let endpoint_checks = endpoint_checks(outbound, database.clock());
    let interface = interface(
        &options.http,
        &pool,
        &queue,
        VerdictWaiters::start(&pool, Part::Interface),
        &key,
        // Only worker processes know the providers.
        TrialPool::new(options.rules.limits(), None),
        endpoint_checks,
        preview_sandbox::spawn(program),
        sign_on,
        readiness.clone(),
    );
    database.lead(interface.management.pool.clone());
    database.lead(queue.claims().clone());
    let quiet = CancellationToken::new();
    let sample = sample(&interface);
    let monitoring = prometheus::serve_monitoring(
        monitoring,
        metrics,
        pool.clone(),
        readiness,
        quiet.clone(),
        sample,
    );
    let pages = console::serve(
        &options.http,
        DRAIN,
        &options.console,
        (browsers, files.browsers),
        Arc::clone(&interface.management),
        stop.clone(),
    )?;
    let server = serve(
        &options.http,
        files.clients,
        DRAIN,
        listener,
        interface,
        stop.clone(),
    );
    if service::wait_for_schema(&pool, &key, &ready, &stop).await? {
        tokio::spawn(service::warn_of_too_many(pool.clone(), connections));
        queue.begin();
        stop.cancelled().await;
    }
    // First load balancers stop sending clients, then no connection is accepted, then running
    // requests end.
    ready.send_replace(service::stopping());
    server.await??;
    pages.await??;
    figures.abort();
    queue.close(CLOSE).await;
    export.finish().await;
    quiet.cancel();
    monitoring.await??;
    pool.close().await;
    Ok(())
}

/// What the interfaces work with.
#[expect(clippy::too_many_arguments, reason = "one for each of its means")]
pub(crate) fn interface(
    bounds: &HttpOptions,
    pool: &PgPool,
    queue: &Queue,
    awaited: VerdictWaiters,
    master_key: &MasterKey,
    trial_pool: TrialPool,
    endpoint_checks: EndpointChecks,
    develop: MakePreview,
    sign_on: Option<SignOn>,
    ready: watch::Receiver<Readiness>,
) -> Interface {
    verdict::expect_none(&[ModerationType::Manual]);
    management::account::expect_none();
    Interface {
        public: Public {
            rates: Rates::start(pool.clone()),
            sites: Sites::new(pool.clone()),
            acceptor: Acceptor::start(pool.clone(), queue.clone(), bounds.accept()),
            statuses: Statuses::new(pool.clone()),
            awaited,
            limits: SubmissionLimits::default(),
        },
        management: Arc::new(Management {
            pool: database::separate_pool(pool, MANAGEMENT_CONNECTIONS),
            queue: queue.clone(),
            master_key: Some(master_key.clone()),
            trial_pool,
            endpoint_checks,
            preview_pool: PreviewPool::new(Some(develop)),
            rules_per_day: bounds.rules_per_day(),
            exports: ConcurrentReads::default(),
            rate_limit: RateLimit::new(RateLimitSettings {
                at_once: MANAGEMENT_CONNECTIONS,
                ..bounds.pace()
            }),
            passwords: Passwords::default(),
            sign_on,
        }),
        body: bounds.body(),
        refusals: bounds.refusals(),
        deadline: bounds.deadline(),
        ready,
    }
}

/// Lets the management interface try rules with what these providers say.
pub(crate) fn analyse(providers: Providers) -> Analyse {
    Arc::new(move |text, wanted| {
        let providers = Arc::clone(&providers);
        Box::pin(async move {
            let (scores, unchecked) = analyse_sample(&providers, &text, &wanted).await;
            Analysed { scores, unchecked }
        })
    })
}

/// Lets the management interface check and test endpoints with the rules of this client.
pub(crate) fn endpoint_checks(outbound: Outbound, clock: Clock) -> EndpointChecks {
    let judging = outbound.clone();
    EndpointChecks::new(
        Arc::new(move |team, url| config::check_url(judging.policy(), team, url)),
        Arc::new(move |target| {
            let (outbound, clock) = (outbound.clone(), clock.clone());
            Box::pin(async move { ping(&outbound, &clock, &target).await.ok() })
        }),
    )
}

/// Reads the interfaces' gauges.
pub(crate) fn sample(interface: &Interface) -> impl Fn() + Send + Sync + 'static {
    let acceptor = interface.public.acceptor.clone();
    let awaited = interface.public.awaited.clone();
    #[expect(clippy::cast_precision_loss, reason = "a few thousand callers at most")]
    move || {
        gauge!("gatehouse_accept_waiting").set(acceptor.waiting() as f64);
        gauge!("gatehouse_accept_capacity").set(acceptor.capacity() as f64);
        gauge!("gatehouse_waiting_requests").set(awaited.waiting() as f64);
    }
}

/// Serves the interfaces on at most this many connections until `stop`, then lets open requests
/// end.
pub(crate) fn serve(
    bounds: &HttpOptions,
    connections: usize,
    drain: Duration,
    listener: TcpListener,
    interface: Interface,
    stop: CancellationToken,
) -> JoinHandle<std::io::Result<()>> {
    let endpoint = ::api::main_listener::interface(interface);
    tokio::spawn(serve::serve(
        listener,
        endpoint,
        Arc::new(ProblemDocuments),
        bounds.serve(connections, drain),
        stop.cancelled_owned(),
    ))
}
