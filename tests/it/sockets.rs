//! File descriptors of a whole process: what a tenant's receivers, images and clients can take of them, and who is served
//! meanwhile. And what the operator opened for one team. Each name begins with the number of its case in `docs/reliability.md`.

use std::{
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions as _, PgPool};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::support::{
    Act, Api, DataDir, Receiver, ScriptedServer, Site, Up, admin, eventually, http, new_site, text,
};

const SOON: Duration = Duration::from_mins(1);
/// More than the process may have files open.
const HOSTS: i32 = 700;
const FILES: u32 = 512;

/// A receiver that answers on every address of 127.0.0.0/8, as a wildcard in DNS leads any number of names to one machine. It
/// never closes a connection.
struct ManyHosts {
    port: u16,
    accepted: Arc<AtomicUsize>,
}

impl ManyHosts {
    async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let accepted = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&accepted);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(answer(stream));
            }
        });
        Self { port, accepted }
    }
}

/// Answers whatever comes, without reading it properly: requests come one at a time.
async fn answer(mut stream: TcpStream) {
    let mut read = vec![0; 16 << 10];
    while let Ok(1..) = stream.read(&mut read).await {
        let ok = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        if stream.write_all(ok).await.is_err() {
            return;
        }
    }
}

/// An endpoint of a site on each of so many hosts, and a delivery for each of them.
const FILL: &str = "
    with event as (
        insert into events (id, media_id, site_id, kind)
        select gen_random_uuid(), id, site_id, 'media.created' from media where site_id = $1 limit 1
        returning id
    ),
    endpoints as (
        insert into webhook_endpoints (id, site_id, url, events)
        select gen_random_uuid(), $1, 'http://127.1.' || n / 250 || '.' || n % 250 + 1 || ':' || $2 || '/', '{media.created}'
        from generate_series(1, $3) n
        returning id
    ),
    new_deliveries as (
        insert into deliveries (id, event_id, endpoint_id)
        select gen_random_uuid(), event.id, endpoints.id from event, endpoints
        returning id, endpoint_id
    )
    select queue.enqueue(
        array_agg('webhooks'::text), array_agg(endpoint_id), array_agg(json_build_object('delivery', id)::text),
        array_agg(0::smallint), array_agg(0::bigint), array_agg(40::smallint)
    )
    from new_deliveries";

/// A site of another team than the demo's, told to this receiver.
async fn neighbour(pool: &PgPool, receiver: &Receiver) -> Site {
    let site = new_site(pool);
    add_endpoint(pool, &site.id, &receiver.url()).await;
    site
}

async fn add_endpoint(pool: &PgPool, site: &str, url: &str) {
    sqlx::query(
        "insert into webhook_endpoints (id, site_id, url, events)
         values (gen_random_uuid(), $1::text::uuid, $2, '{media.created,media.moderated}')",
    )
    .bind(site)
    .bind(url)
    .execute(pool)
    .await
    .unwrap();
}

async fn submit(up: &Up, key: &str) -> String {
    let url = format!("{}/submit-media", up.demo().base_url);
    let item = json!({ "api_key": key, "body": "a fine day" });
    // A client of its own: a new connection each time.
    let answer = http().post(url).json(&item).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    text(&answer.json::<Value>().await.unwrap(), "id")
}

async fn metric(up: &Up, name: &str) -> f64 {
    let page = http().get(&up.demo().metrics_url).send().await.unwrap();
    let page = page.text().await.unwrap();
    let line = page.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_else(|| panic!("no {name}"))
        .trim()
        .parse()
        .unwrap()
}

#[sqlx::test(migrations = false)]
async fn case_39_a_tenant_with_hundreds_of_hosts_leaves_descriptors_for_everybody(pool: PgPool) {
    let (hosts, receiver, data) = (
        ManyHosts::start().await,
        Receiver::start().await,
        DataDir::new(),
    );
    let neighbour = neighbour(&pool, &receiver).await;
    let database = pool.connect_options().to_url_lossy().to_string();
    let open = format!("127.0.0.0/8:{},{}", hosts.port, receiver.allowed());
    let options = [
        "--database-url",
        &database,
        "--demo",
        "--egress-allow",
        &open,
    ];
    let up = Up::start_with_files(&data, FILES, &options).await;
    let hostile = up.demo().site_key.clone();
    submit(&up, &hostile).await;
    sqlx::query(FILL)
        .bind(up.demo().site_id.parse::<uuid::Uuid>().unwrap())
        .bind(i32::from(hosts.port))
        .bind(HOSTS)
        .execute(&pool)
        .await
        .unwrap();

    let mut most = 0;
    eventually("all hosts are told", SOON * 2, async || {
        most = most.max(up.files());
        let media = submit(&up, &neighbour.key).await;
        receiver.event("media.moderated", &media, SOON).await;
        let accepted = hosts.accepted.load(Ordering::SeqCst);
        (accepted >= usize::try_from(HOSTS).unwrap()).then_some(())
    })
    .await;
    for _ in 0..10 {
        most = most.max(up.files());
        let media = submit(&up, &neighbour.key).await;
        receiver.event("media.moderated", &media, SOON).await;
    }
    assert!(
        most < usize::try_from(FILES).unwrap() * 3 / 4,
        "{most} files were open"
    );
    let idle = metric(&up, "gatehouse_outbound_idle_connections").await;
    assert!((1.0..=64.0).contains(&idle), "{idle}");
    let failures = metric(&up, "gatehouse_http_accept_failures_total").await;
    assert!(failures < 1.0, "{failures} accepts failed");
}

#[sqlx::test(migrations = false)]
async fn case_39_when_descriptors_run_out_an_idle_client_makes_room(pool: PgPool) {
    let site = new_site(&pool);
    let api = Api::with(&pool, &["--idle-seconds", "3600"]).await;
    let request = b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n";
    let mut idle = Vec::new();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(api.address).await.unwrap();
        stream.write_all(request).await.unwrap();
        assert!(stream.read(&mut [0; 4 << 10]).await.unwrap() > 0);
        idle.push(stream);
    }
    let files = api.freeze_files();
    assert!(files > 20, "{files}");
    for _ in 0..3 {
        let answer = http().get(format!("http://{}/healthz", api.address)).send();
        assert_eq!(answer.await.unwrap().status(), 200);
    }
    let item = json!({ "api_key": site.key, "body": "a fine day" });
    let (status, answer) = api.post("submit-media", None, &item).await.unwrap();
    assert_eq!(status, 200, "{answer}");
}

#[sqlx::test(migrations = false)]
async fn case_39_a_delivery_that_gets_no_connection_is_charged_no_attempt(pool: PgPool) {
    const ITEMS: u32 = 4;
    // All that the team may have of eight connections.
    const SHARE: usize = 4;
    let (receiver, data) = (Receiver::start().await, DataDir::new());
    // Its first pictures take the team's connections for as long as they may.
    let pictures = ScriptedServer::start(|_, asked| {
        if asked <= SHARE {
            Act::Hang
        } else {
            Act::head("404 Not Found")
        }
    })
    .await;
    let (database, url) = (
        pool.connect_options().to_url_lossy().to_string(),
        receiver.url(),
    );
    let options = [
        "--database-url",
        &database,
        "--demo",
        "--webhook-url",
        &url,
        "--egress-allow",
        &pictures.allowed(),
        "--outbound-connections",
        "8",
    ];
    let up = Up::start(&data, &options).await;
    for _ in 0..SHARE {
        let picture = json!({ "content_url": pictures.url("/") });
        up.submit(picture).await;
    }
    eventually("pictures have the team's share", SOON, async || {
        (pictures.asked("/") == SHARE).then_some(())
    })
    .await;
    for _ in 0..ITEMS {
        submit(&up, &up.demo().site_key).await;
    }
    eventually("a delivery gives up waiting", SOON, async || {
        let name = "gatehouse_outbound_waits_total{outcome=\"gave_up\"}";
        let waits = "select count(*) from queue.jobs where queue = 'webhooks' and state = 2 and attempt = 0";
        let waiting: i64 = sqlx::query_scalar(waits).fetch_one(&pool).await.unwrap();
        (metric(&up, name).await >= 1.0 && waiting > 0).then_some(())
    })
    .await;
    let of_texts = "from deliveries d
        join events e on e.id = d.event_id
        join media m on m.id = e.media_id and m.content_type = 'text'";
    eventually("all events", SOON, async || {
        let ended = format!("select count(*) {of_texts} where d.state = 'delivered'");
        let ended: i64 = sqlx::query_scalar(AssertSqlSafe(ended))
            .fetch_one(&pool)
            .await
            .unwrap();
        (ended == i64::from(2 * ITEMS)).then_some(())
    })
    .await;
    let attempts = format!(
        "select a.outcome, count(*) {of_texts}
         join delivery_attempts a on a.delivery_id = d.id
         group by a.outcome"
    );
    let attempts: Vec<(String, i64)> = sqlx::query_as(AssertSqlSafe(attempts))
        .fetch_all(&pool)
        .await
        .unwrap();
    assert_eq!(attempts, [("delivered".to_owned(), i64::from(2 * ITEMS))]);
    let ill = "select count(*) from webhook_endpoint_states where failures > 0";
    let ill: i64 = sqlx::query_scalar(ill).fetch_one(&pool).await.unwrap();
    assert_eq!(ill, 0, "the endpoint has nothing to do with it");
}

/// The queue keeps what would have to wait for a connection.
#[sqlx::test(migrations = false)]
async fn case_59_a_slow_receiver_has_no_more_requests_than_its_team_has_connections(pool: PgPool) {
    const ITEMS: u32 = 12;
    let (receiver, data) = (Receiver::start().await, DataDir::new());
    receiver.answer(200, Duration::from_secs(8));
    let (database, url) = (
        pool.connect_options().to_url_lossy().to_string(),
        receiver.url(),
    );
    let options = [
        "--database-url",
        &database,
        "--demo",
        "--webhook-url",
        &url,
        "--outbound-connections",
        "8",
    ];
    let up = Up::start(&data, &options).await;
    for _ in 0..ITEMS {
        submit(&up, &up.demo().site_key).await;
    }
    let delivered = async |at_least: i64| {
        let ended = "select count(*) from deliveries where state = 'delivered'";
        let ended: i64 = sqlx::query_scalar(ended).fetch_one(&pool).await.unwrap();
        (ended >= at_least).then_some(())
    };
    eventually("the share is used", SOON, async || {
        (receiver.received().len() >= 4).then_some(())
    })
    .await;
    assert!(receiver.received().len() <= 4, "more than the team's share");
    eventually("the first are delivered", SOON, async || delivered(1).await).await;
    receiver.answer(200, Duration::ZERO);
    let all = i64::from(2 * ITEMS);
    eventually("all events", SOON, async || delivered(all).await).await;
    let attempts = "select count(*) from delivery_attempts";
    let attempts: i64 = sqlx::query_scalar(attempts).fetch_one(&pool).await.unwrap();
    assert_eq!(attempts, all);
    let gave_up = "gatehouse_outbound_waits_total{outcome=\"gave_up\"}";
    assert!(
        metric(&up, gave_up).await < 1.0,
        "nobody held a slot for nothing"
    );
}

#[sqlx::test(migrations = false)]
async fn case_44_the_demos_exemption_serves_the_demos_team_only(pool: PgPool) {
    let (receiver, theirs, data) = (
        Receiver::start().await,
        Receiver::start().await,
        DataDir::new(),
    );
    let other = neighbour(&pool, &receiver).await;
    add_endpoint(&pool, &other.id, &theirs.url()).await;
    let token = admin(
        &pool,
        &[
            "create-token",
            "--name",
            "operator",
            "--scopes",
            "webhooks:write",
        ],
    );
    let (database, url) = (
        pool.connect_options().to_url_lossy().to_string(),
        receiver.url(),
    );
    let team: uuid::Uuid =
        sqlx::query_scalar("select team_id from sites where id = $1::text::uuid")
            .bind(&other.id)
            .fetch_one(&pool)
            .await
            .unwrap();
    let open = format!("{team}={}", theirs.host());
    let options = [
        "--database-url",
        &database,
        "--demo",
        "--webhook-url",
        &url,
        "--egress-allow",
        &open,
    ];
    let up = Up::start_with_files(&data, 4_096, &options).await;

    // Defined by URL: each only where the operator opened it for its team.
    let base = up.demo().base_url.replace("/functions/", "/management/");
    for (site, url, expected) in [
        (&other.id, receiver.url(), 400),
        (&other.id, theirs.url(), 201),
        (&up.demo().site_id, receiver.url(), 201),
        (&up.demo().site_id, theirs.url(), 400),
    ] {
        let request = http().post(format!("{base}/sites/{site}/webhook-endpoints"));
        let request = request.bearer_auth(text(&token, "management_token"));
        let body = json!({ "url": format!("{url}defined") });
        let answer = request.json(&body).send().await.unwrap();
        let status = answer.status().as_u16();
        assert_eq!(status, expected, "{url}: {}", answer.text().await.unwrap());
    }

    let ours = submit(&up, &up.demo().site_key).await;
    receiver.event("media.moderated", &ours, SOON).await;
    let foreign = submit(&up, &other.key).await;
    theirs.event("media.moderated", &foreign, SOON).await;
    let outcome = eventually("an attempt at the demo's host", SOON, async || {
        sqlx::query_scalar::<_, String>(
            "select a.outcome from delivery_attempts a
             join deliveries d on d.id = a.delivery_id
             join webhook_endpoints p on p.id = d.endpoint_id
             where p.site_id = $1::text::uuid and p.url = $2 limit 1",
        )
        .bind(&other.id)
        .bind(receiver.url())
        .fetch_optional(&pool)
        .await
        .unwrap()
    })
    .await;
    assert_eq!(outcome, "refused");
    let told = receiver.received();
    assert!(
        told.iter()
            .all(|request| request.json()["data"]["media_id"] == ours.as_str())
    );
}

#[sqlx::test(migrations = false)]
async fn case_45_an_image_that_cannot_be_fetched_is_logged_once(pool: PgPool) {
    let (server, data) = (Receiver::start().await, DataDir::new());
    server.answer(500, Duration::ZERO);
    let (database, open) = (
        pool.connect_options().to_url_lossy().to_string(),
        server.host(),
    );
    let options = [
        "--database-url",
        &database,
        "--demo",
        "--egress-allow",
        &open,
    ];
    let up = Up::start(&data, &options).await;
    let media = up
        .submit(json!({ "content_url": format!("{}a.png", server.url()) }))
        .await;
    eventually("a verdict", SOON * 2, async || {
        let status = up.status(&media).await;
        (status["status"] != "pending").then_some(())
    })
    .await;
    assert_eq!(server.received().len(), 5);
    let log = std::fs::read_to_string(data.log()).unwrap();
    let told = log
        .lines()
        .filter(|line| line.contains("could not fetch an image"));
    assert_eq!(
        told.filter(|line| line.contains(&media)).count(),
        1,
        "{log}"
    );
    assert!(!log.contains("a job failed"), "{log}");
}
