//! The monitoring listener, and what it shows of the public one.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use api::{
    ProblemDocuments, Readiness,
    monitoring_listener::{Monitoring, monitoring},
};
use http_server::serve::{Settings, serve};
use metrics_exporter_prometheus::PrometheusBuilder;
use sqlx::PgPool;
use tokio::{net::TcpListener, sync::watch};

use crate::{
    app::{App, STATUS},
    client,
};

#[sqlx::test(migrations = false)]
async fn metrics_count_requests_with_bounded_labels_and_show_no_key(pool: PgPool) {
    let metrics = PrometheusBuilder::new().install_recorder().unwrap();
    let app = App::start(pool).await;
    app.submitted("hello").await;
    app.get(&format!("{STATUS}?api_key={}&media_id=x", app.tenant.key))
        .await;
    app.get("/wp-login.php").await;
    app.request("BREW", "/coffee", &[], "").await;
    let id = uuid::Uuid::now_v7().to_string();
    let operator = app.operator().await;
    operator.get(&format!("/teams/{id}")).await;
    operator
        .patch(&format!("/teams/{id}"), serde_json::json!({}))
        .await;
    operator.get(&format!("/teams/{id}/nothing")).await;

    let sampled = Arc::new(AtomicBool::new(false));
    let (_ready, readiness) = watch::channel(Readiness::Ready);
    let page = {
        let sampled = Arc::clone(&sampled);
        Box::new(move || {
            sampled.store(true, Ordering::Relaxed);
            metrics.render()
        })
    };
    let endpoint = monitoring(Monitoring {
        page,
        ready: readiness,
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(
        listener,
        endpoint,
        Arc::new(ProblemDocuments),
        Settings::default(),
        std::future::pending(),
    ));
    let get =
        async |path: &str| client::exchange(address, &client::request("GET", path, &[], b"")).await;

    let page = get("/metrics").await;
    assert!(sampled.load(Ordering::Relaxed));
    assert!(
        page.header("content-type")
            .is_some_and(|kind| kind.starts_with("text/plain; version=0.0.4"))
    );
    for line in [
        r#"gatehouse_http_requests_total{route="/functions/v1/submit-media",method="POST",code_class="2xx"} "#,
        r#"gatehouse_http_requests_total{route="/functions/v1/get-media-status",method="GET",code_class="4xx"} "#,
        r#"gatehouse_http_requests_total{route="unknown",method="GET",code_class="4xx"} "#,
        r#"gatehouse_http_requests_total{route="unknown",method="other",code_class="4xx"} "#,
        r#"gatehouse_http_requests_total{route="/management/v1/teams/{team_id}",method="GET",code_class="4xx"} "#,
        r#"gatehouse_http_requests_total{route="/management/v1/teams/{team_id}",method="PATCH",code_class="4xx"} "#,
    ] {
        assert!(page.body.contains(line), "{line}\n{}", page.body);
    }
    assert!(
        page.body
            .contains("gatehouse_http_request_duration_seconds")
    );
    for never in [app.tenant.key.as_str(), "mgmt_", "wp-login", &id] {
        assert!(!page.body.contains(never), "{never}");
    }
    get("/healthz").await.ok();
    get("/readyz").await.ok();
    get("/functions/v1/submit-media")
        .await
        .problem(404, "not_found");
}
