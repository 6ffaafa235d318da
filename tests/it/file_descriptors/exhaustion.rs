//! A tenant with hundreds of hosts, and a process that has no free descriptor.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use sqlx::PgPool;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::{SOON, metric, neighbour, start, submit};
use crate::support::{Api, DataDir, Receiver, eventually, http, new_site};

/// More than the process may have open files.
const HOSTS: i32 = 700;
/// The most open files of the process.
const FEW: u32 = 512;

/// A receiver that answers on every address of 127.0.0.0/8. A wildcard in DNS leads any number of
/// names to one machine in the same way. It never closes a connection.
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

/// Answers 200 to everything, without parsing it: requests come one at a time.
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

#[sqlx::test(migrations = false)]
async fn case_39_a_tenant_with_hundreds_of_hosts_leaves_descriptors_for_everybody(pool: PgPool) {
    let (hosts, receiver, data) = (
        ManyHosts::start().await,
        Receiver::start().await,
        DataDir::new(),
    );
    let neighbour = neighbour(&pool, &receiver).await;
    let open = format!("127.0.0.0/8:{},{}", hosts.port, receiver.allowed());
    let up = start(&pool, &data, FEW, &["--egress-allow", &open]).await;
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
    eventually("all hosts get their webhook", SOON * 2, async || {
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
        most < usize::try_from(FEW).unwrap() * 3 / 4,
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
