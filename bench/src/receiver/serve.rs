//! Takes connections and answers requests according to the receiver's manners.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::{
    Request, Response, StatusCode, body::Incoming, server::conn::http1, service::service_fn,
};
use hyper_util::rt::TokioIo;
use rand::RngExt as _;
use tokio::net::TcpListener;

use super::{Shared, lock, read::read};

pub(super) async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // For example, there are no free file descriptors. The sender tries again.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(|request| answer(Arc::clone(&shared), request));
            // A killed sender breaks its connections. Its requests come again.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<Empty<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return Ok(respond(StatusCode::BAD_REQUEST));
    };
    let body = body.to_bytes();
    if shared.manners.careless {
        lock(&shared.seen).count();
        return Ok(respond(StatusCode::OK));
    }
    let delay = delay(&shared, head.uri.path());
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    let read = read(&shared, head.uri.path(), &head.headers, &body);
    let fails = lock(&shared.random).random_bool(shared.manners.failing);
    let mut seen = lock(&shared.seen);
    match read {
        Ok(_) if fails => {
            seen.refused += 1;
            Ok(respond(StatusCode::INTERNAL_SERVER_ERROR))
        }
        Ok((key, arrival)) => {
            seen.take(key, arrival);
            Ok(respond(StatusCode::OK))
        }
        Err(error) => {
            seen.complain(&format!("{error:#}"));
            Ok(respond(StatusCode::BAD_REQUEST))
        }
    }
}

fn delay(shared: &Shared, path: &str) -> Duration {
    let site = path.trim_start_matches('/').parse().ok();
    let slow = site.and_then(|site: usize| lock(&shared.slow).get(&site).copied());
    slow.unwrap_or(shared.manners.delay)
}

fn respond(status: StatusCode) -> Response<Empty<Bytes>> {
    let mut response = Response::new(Empty::new());
    *response.status_mut() = status;
    response
}
