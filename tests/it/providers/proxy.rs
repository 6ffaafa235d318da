//! The operator's proxy: providers are reached through it, whatever the environment says, and nothing else is.

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;
use sqlx::PgPool;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream},
    task::{AbortHandle, JoinSet},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, crypto::ring, pki_types::PrivateKeyDer},
};

use super::HOUR;
use crate::support::{DataDir, FakeProvider, Mode, Panel, Receiver, Up, Worker};

const MINUTES: Duration = Duration::from_mins(2);

/// A forward proxy, to which every name is this machine. Dropping it closes its port.
struct Proxy {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    server: AbortHandle,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Proxy {
    /// It asks for this user and password, if for any.
    async fn start(wanted: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let all = Arc::clone(&asked);
        let server = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(forward(stream, wanted, Arc::clone(&all)));
            }
        });
        Self {
            address,
            asked,
            server: server.abort_handle(),
        }
    }

    /// The first lines of what it was asked for.
    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn forward(
    mut client: TcpStream,
    wanted: Option<&str>,
    all: Arc<Mutex<Vec<String>>>,
) -> Option<()> {
    let mut bytes = Vec::new();
    let head = loop {
        client.read_buf(&mut bytes).await.ok().filter(|n| *n > 0)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            break head.to_owned();
        }
    };
    let line = head.lines().next()?.to_owned();
    all.lock().unwrap().push(line.clone());
    let shown =
        wanted.map(|wanted| format!("proxy-authorization: basic {}", STANDARD.encode(wanted)));
    let is_known = |shown: &String| {
        let mut lines = head.lines();
        lines.any(|line| line.eq_ignore_ascii_case(shown))
    };
    if shown.as_ref().is_some_and(|shown| !is_known(shown)) {
        let refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";
        client.write_all(refusal).await.ok()?;
        return None;
    }
    let target = line.split(' ').nth(1)?;
    let place = target.trim_start_matches("http://").split('/').next()?;
    let port: u16 = place.rsplit(':').next()?.parse().ok()?;
    let mut server = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    if line.starts_with("CONNECT ") {
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.ok()?;
    } else {
        server.write_all(&bytes).await.ok()?;
    }
    copy_bidirectional(&mut client, &mut server).await.ok()?;
    Some(())
}

/// The same provider behind TLS, for a name that only its certificate knows. Gives the port, and writes the authority's certificate.
async fn behind_tls(provider: &FakeProvider, authority: &Path) -> (u16, AbortHandle) {
    let made = rcgen::generate_simple_self_signed(["provider.test".to_owned()]).unwrap();
    let certificate = STANDARD.encode(made.cert.der());
    let file = format!("-----BEGIN CERTIFICATE-----\n{certificate}\n-----END CERTIFICATE-----\n");
    fs::write(authority, file).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let behind = port_of(provider);
    let server = tokio::spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            connections.spawn(async move {
                let mut client = acceptor.accept(stream).await.ok()?;
                let mut server = TcpStream::connect(("127.0.0.1", behind)).await.ok()?;
                copy_bidirectional(&mut client, &mut server).await.ok()
            });
        }
    });
    (port, server.abort_handle())
}

fn port_of(provider: &FakeProvider) -> u16 {
    let [_, _, _, url] = provider.options();
    url.rsplit(':').next().unwrap().parse().unwrap()
}

#[sqlx::test(migrations = false)]
async fn providers_are_reached_through_the_operators_proxy_and_by_no_other(pool: PgPool) {
    // What no header and no URL may have as it is.
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
    // Nobody is there.
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
async fn a_proxy_that_refuses_us_and_a_certificate_that_nobody_vouches_for_are_told(pool: PgPool) {
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
