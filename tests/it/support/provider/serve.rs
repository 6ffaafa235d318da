//! The HTTP server of a fake provider: it reads each request strictly, and answers in the mode that
//! the test chose.

use std::io;
use std::sync::{Arc, Mutex};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::state::State;
use super::{Fault, Mode, Refusal, Wire, fault};

/// Accepts connections until it is dropped.
pub(super) async fn serve(wire: Wire, listener: TcpListener, state: Arc<Mutex<State>>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        let mode = {
            let mut state = state.lock().unwrap();
            state.connections += 1;
            state.mode
        };
        if let Mode::Wrong(fault) = mode {
            connections.spawn(async move {
                let _ = do_wrong(wire, fault, stream, &state).await;
            });
            continue;
        }
        let answering = service_fn(move |request| answer(wire, request, Arc::clone(&state)));
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), answering);
        connections.spawn(async move {
            let _ = connection.await;
        });
    }
}

async fn answer(
    wire: Wire,
    request: Request<Incoming>,
    state: Arc<Mutex<State>>,
) -> io::Result<Response<Full<Bytes>>> {
    let mode = {
        let mut state = state.lock().unwrap();
        state.asked += 1;
        state.mode
    };
    if let Mode::Slow(time) = mode {
        sleep(time).await;
    }
    let (parts, body) = request.into_parts();
    let body = body.collect().await;
    let body = body
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    let shown = match wire.read(&parts, &body) {
        Ok(shown) => shown,
        Err(Refusal(status, code)) => return Ok(respond_error(wire, status, code)),
    };
    state.lock().unwrap().last = shown.request.clone();
    let well = || {
        state.lock().unwrap().answered += 1;
        wire.well(&shown).to_string()
    };
    Ok(match mode {
        Mode::Short(most) if shown.texts.iter().any(|text| text.len() > most) => {
            respond_error(wire, 429, "rate_limit_exceeded")
        }
        Mode::Well | Mode::Slow(_) | Mode::Short(_) => respond(StatusCode::OK, well()),
        Mode::Spent(reset) => {
            let mut response = respond(StatusCode::OK, well());
            let headers = response.headers_mut();
            headers.insert("x-ratelimit-remaining-requests", "0".parse().unwrap());
            headers.insert("x-ratelimit-reset-requests", reset.parse().unwrap());
            response
        }
        Mode::Hang => std::future::pending().await,
        Mode::Status(status) => respond_error(wire, status, "on_purpose"),
        Mode::Limited(wait) => {
            let mut response = respond_error(wire, 429, "rate_limit_exceeded");
            let headers = response.headers_mut();
            headers.insert("retry-after", wait.parse().unwrap());
            response
        }
        Mode::Bucket(a_minute) => {
            let taken = state.lock().unwrap().take(a_minute, &shown.texts);
            match taken {
                Ok(()) => respond(StatusCode::OK, well()),
                Err(wait) => {
                    let mut response = respond_error(wire, 429, "rate_limit_exceeded");
                    let wait = wait.as_millis().to_string().parse().unwrap();
                    response.headers_mut().insert("retry-after-ms", wait);
                    response
                }
            }
        }
        Mode::Hidden => {
            let (status, body) = wire.hidden();
            respond(StatusCode::from_u16(status).unwrap(), body.to_string())
        }
        Mode::Quoting(status) => respond_error(wire, status, &shown.texts.concat()),
        Mode::Unsure => respond(StatusCode::OK, wire.unsure(&shown).to_string()),
        Mode::UnsureOf(category) => {
            respond(StatusCode::OK, wire.unsure_of(&shown, category).to_string())
        }
        Mode::Half => respond(StatusCode::OK, wire.half(&shown)),
        Mode::Foreign => respond(StatusCode::OK, wire.foreign(&shown).to_string()),
        Mode::Malformed => respond(StatusCode::OK, "<html>busy</html>"),
        Mode::Huge => respond(StatusCode::OK, " ".repeat(2 << 20) + &well()),
        Mode::Fails(times) => {
            let mut locked = state.lock().unwrap();
            if times == 0 {
                return Ok(respond_error(wire, 500, "on_purpose"));
            }
            locked.mode = Mode::Fails(times - 1);
            drop(locked);
            respond(StatusCode::OK, well())
        }
        // The connection was opened before that. It is closed without an answer.
        Mode::Reset | Mode::Wrong(_) => return Err(io::ErrorKind::ConnectionReset.into()),
    })
}

/// Reads one request like every other one, and then sends what is no proper answer.
async fn do_wrong(
    wire: Wire,
    fault: Fault,
    mut stream: TcpStream,
    state: &Mutex<State>,
) -> io::Result<()> {
    if fault == Fault::ClosedAtOnce {
        state.lock().unwrap().asked += 1;
        return Ok(());
    }
    let (parts, body) = fault::request(&mut stream).await?;
    let read = wire.read(&parts, &body);
    {
        let mut state = state.lock().unwrap();
        state.asked += 1;
        if let Ok(shown) = &read {
            state.last = shown.request.clone();
        }
    }
    match read {
        Ok(shown) => fault.answer(wire, &shown, &mut stream).await,
        Err(refusal) => fault::refuse(&mut stream, wire, refusal).await,
    }
}

fn respond_error(wire: Wire, status: u16, code: &str) -> Response<Full<Bytes>> {
    let body = wire.error(status, code).to_string();
    let mut response = respond(StatusCode::from_u16(status).unwrap(), body);
    if let Some(name) = wire.error_header() {
        response.headers_mut().insert(name, code.parse().unwrap());
    }
    response
}

fn respond(status: StatusCode, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response
}
