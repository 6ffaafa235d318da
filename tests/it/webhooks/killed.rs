//! A worker that is killed after a receiver answered and before the answer is recorded.

use serde_json::json;
use sqlx::{
    ConnectOptions as _, PgPool,
    postgres::{PgConnectOptions, PgSslMode},
};

use crate::{
    proxy::{Proxy, Trap},
    support::{Api, Receiver, SOON, Worker, admin, eventually, gatehouse, new_site},
};

#[sqlx::test(migrations = false)]
async fn case_22_what_was_answered_and_not_written_down_comes_again_as_the_same_delivery(
    pool: PgPool,
) {
    let receiver = Receiver::start().await;
    let site = new_site(&pool);
    let url = receiver.url();
    let endpoint = ["create-endpoint", "--site", &site.id, "--url", &url];
    admin(
        &pool,
        &[
            &endpoint[..],
            &["--events", "media.created"],
            &["--egress-allow", &receiver.allowed()],
        ]
        .concat(),
    );
    let api = Api::start(&pool).await;
    let options: PgConnectOptions = (*pool.connect_options()).clone();
    let proxy = Proxy::start(options.get_host(), options.get_port());
    let behind = options
        .host("127.0.0.1")
        .port(proxy.port)
        .ssl_mode(PgSslMode::Disable)
        .to_url_lossy();
    let launch = |database: Option<&str>| {
        let mut command = gatehouse(&pool);
        command.env("GATEHOUSE_EGRESS_ALLOW", receiver.allowed());
        command.env("GATEHOUSE_LEASE_SECONDS", "2");
        if let Some(database) = database {
            command.env("DATABASE_URL", database);
        }
        Worker::launch(command)
    };

    let worker = launch(Some(behind.as_str())).await;
    proxy.set(&["insert into delivery_attempts"], Trap::HoldBefore);
    let fields = json!({ "api_key": site.key, "body": "a fine day" });
    let (status, answer) = api.post("submit-media", None, &fields).await.unwrap();
    assert_eq!(status, 200, "{answer}");
    eventually("the record is on its way", SOON, async || {
        proxy.has_sprung().then_some(())
    })
    .await;
    let delivery = || async {
        let delivery = "select d.state, d.attempts, count(a.*) from deliveries d
            left join delivery_attempts a on a.delivery_id = d.id group by d.id";
        let row: (String, i16, i64) = sqlx::query_as(delivery).fetch_one(&pool).await.unwrap();
        row
    };
    assert_eq!(receiver.received().len(), 1);
    assert_eq!(delivery().await, ("pending".to_owned(), 0, 0));
    worker.kill();
    drop(worker);

    let _worker = launch(None).await;
    eventually("it is delivered", SOON, async || {
        (delivery().await == ("delivered".to_owned(), 1, 1)).then_some(())
    })
    .await;
    let received = receiver.received();
    let [first, second] = &received[..] else {
        panic!("{} requests", received.len())
    };
    for name in ["x-service-delivery-id", "webhook-id", "x-service-event"] {
        assert_eq!(first.header(name), second.header(name));
    }
    assert_eq!(first.body, second.body);
    second.assert_signed(&site.webhook_secret);
}
