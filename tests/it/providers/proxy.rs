//! The operator's proxy: providers are reached through it, whatever the environment says, and
//! nothing else is.

mod forward;
mod tunnel;

use std::{process::Stdio, time::Duration};

use serde_json::json;
use sqlx::PgPool;

use super::HOUR;
use crate::support::{DataDir, FakeProvider, Mode, Panel, Receiver, Up, Worker};
use forward::Proxy;
use tunnel::behind_tls;

const MINUTES: Duration = Duration::from_mins(2);

fn port_of(provider: &FakeProvider) -> u16 {
    let [_, _, _, url] = provider.options();
    url.rsplit(':').next().unwrap().parse().unwrap()
}

#[sqlx::test(migrations = false)]
async fn providers_are_reached_through_the_operators_proxy_and_by_no_other(pool: PgPool) {
    // Characters that must be encoded in headers and URLs.
    let proxy = Proxy::start(Some("me@work:pass%41/word")).await;
    let other = Proxy::start(None).await;
    let [plain, hidden, direct, own] = [
        FakeProvider::openai(Mode::Well).await,
        FakeProvider::openai(Mode::Well).await,
        FakeProvider::openai(Mode::Well).await,
        FakeProvider::openai(Mode::Well).await,
    ];
    let files = tempfile::tempdir().unwrap();
    let authority = files.path().join("authority.pem");
    let (tls_port, tls) = behind_tls(&hidden, &authority).await;
    let address = |provider: &FakeProvider| format!("http://127.0.0.1:{}", port_of(provider));
    let named = |provider: &FakeProvider, name: &str, url: &str, members: &str| {
        let entry = provider.entry(name, members);
        entry.replace(&address(provider), url)
    };
    let entries = [
        named(
            &plain,
            "plain",
            &format!("http://provider.test:{}/v1", port_of(&plain)),
            "",
        ),
        named(
            &hidden,
            "hidden",
            &format!("https://provider.test:{tls_port}"),
            "",
        ),
        direct.entry("direct", "proxy = \"none\""),
        named(
            &own,
            "own",
            &format!("http://provider.test:{}", port_of(&own)),
            &format!("proxy = \"http://{}\"", other.address),
        ),
    ];
    let panel = Panel::start(&pool, 0, &entries, HOUR, &["violence"]).await;
    let mut command = panel.gatehouse();
    command
        .env(
            "GATEHOUSE_PROVIDER_PROXY",
            format!("http://me%40work@{}", proxy.address),
        )
        .env("GATEHOUSE_PROVIDER_PROXY_PASSWORD", "pass%41/word")
        .env("SSL_CERT_FILE", &authority);
    // No proxy listens at this address.
    for variable in [
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
    ] {
        command.env(variable, "http://127.0.0.1:9");
    }
    let _worker = Worker::launch(command).await;
    for (name, provider) in [
        ("plain", &plain),
        ("hidden", &hidden),
        ("direct", &direct),
        ("own", &own),
    ] {
        let key = panel.site(name, json!({ "providers": [name] })).await;
        let media = panel.submit(&key, FakeProvider::VIOLENT).await;
        let verdict = panel.verdict(&key, &media, MINUTES).await;
        assert_eq!(verdict["status"], "rejected", "{name}: {verdict}");
        assert_eq!(provider.answered(), 1, "{name}");
    }
    let plain = port_of(&plain);
    assert_eq!(
        proxy.asked(),
        [
            format!("POST http://provider.test:{plain}/v1/moderations HTTP/1.1"),
            format!("CONNECT provider.test:{tls_port} HTTP/1.1"),
        ]
    );
    let own = port_of(&own);
    assert_eq!(
        other.asked(),
        [format!(
            "POST http://provider.test:{own}/v1/moderations HTTP/1.1"
        )]
    );
    tls.abort();
}

#[sqlx::test(migrations = false)]
async fn case_71_a_proxy_that_refuses_us_and_an_untrusted_certificate_are_reported(pool: PgPool) {
    let proxy = Proxy::start(Some("me:secret")).await;
    let open = Proxy::start(None).await;
    let provider = FakeProvider::openai(Mode::Well).await;
    let files = tempfile::tempdir().unwrap();
    let (tls_port, tls) = behind_tls(&provider, &files.path().join("authority.pem")).await;
    let address = format!("http://127.0.0.1:{}", port_of(&provider));
    let tunnelled = |name: &str, members: &str| {
        let entry = provider.entry(name, members);
        entry.replace(&address, &format!("https://provider.test:{tls_port}"))
    };
    let entries = [
        provider.entry("plain", ""),
        tunnelled("hidden", ""),
        tunnelled("untrusted", &format!("proxy = \"http://{}\"", open.address)),
    ];
    let panel = Panel::start(&pool, 0, &entries, HOUR, &["violence"]).await;
    let check = async |proxy: &str, password: Option<&str>| {
        let mut command = panel.gatehouse();
        command
            .args(["check", "--providers-live", "--provider-proxy", proxy])
            .env_remove("SSL_CERT_FILE");
        if let Some(password) = password {
            command.env("GATEHOUSE_PROVIDER_PROXY_PASSWORD", password);
        }
        // The servers run in this thread.
        let output = tokio::task::spawn_blocking(move || {
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .output()
                .unwrap()
        });
        let output = output.await.unwrap();
        assert!(!output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let told = check(&format!("http://me@{}", proxy.address), Some("wrong-one")).await;
    for line in [
        "provider plain, text: it accepts no request with this key at this address (HTTP 407); the proxy asks for a user",
        "proxy authorization required; check GATEHOUSE_PROVIDER_PROXY",
        "or install the authority that issued its certificate",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert!(
        !told.contains("wrong-one") && !told.contains(FakeProvider::KEY),
        "{told}"
    );
    assert_eq!(provider.asked(), 0);

    let told = check("http://me:secret@proxy:3128", None).await;
    assert!(
        told.contains("put it into GATEHOUSE_PROVIDER_PROXY_PASSWORD"),
        "{told}"
    );
    assert!(!told.contains("secret"), "{told}");
    tls.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_do_not_take_the_providers_proxy() {
    let proxy = Proxy::start(None).await;
    let provider = FakeProvider::openai(Mode::Well).await;
    let receiver = Receiver::start().await;
    let data = DataDir::new();
    let port = port_of(&provider);
    let up = Up::start(
        &data,
        &[
            "--providers",
            "openai",
            "--openai-url",
            &format!("http://provider.test:{port}/v1"),
            "--provider-proxy",
            &format!("http://{}", proxy.address),
            "--webhook-url",
            &receiver.url(),
        ],
    )
    .await;
    let media = up.submit(json!({ "body": "a quiet afternoon" })).await;
    receiver.event("media.moderated", &media, MINUTES).await;
    assert_eq!(provider.answered(), 1);
    assert_eq!(
        proxy.asked(),
        [format!(
            "POST http://provider.test:{port}/v1/moderations HTTP/1.1"
        )]
    );
}
