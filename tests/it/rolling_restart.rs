//! Two API processes are restarted one after the other, and clients that look at `/readyz` once per
//! second notice nothing. The clients repeat no request: a request that does not get 200 has
//! failed.

mod balancer;
mod client;

use std::{
    net::SocketAddr,
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use sqlx::PgPool;
use tokio::{
    task::JoinSet,
    time::{interval, sleep},
};

use self::{
    balancer::{Balancer, Fleet},
    client::Client,
};
use crate::support::{Api, gatehouse, site_key};

/// Each sends a request every tenth of a second, which makes 200 per second.
const CLIENTS: usize = 20;
const EVERY: Duration = Duration::from_millis(100);
/// The pause between two restarts, in which both processes answer.
const PAUSE: Duration = Duration::from_secs(2);
/// For this many seconds, a process that stops still accepts requests, because clients look once
/// per second, or later on a busy machine.
const DRAIN: &str = "8";

/// The results of the requests.
#[derive(Default)]
struct Outcome {
    over: AtomicBool,
    answered: AtomicUsize,
    failures: Mutex<Vec<String>>,
}

impl Outcome {
    fn note(&self, result: Result<u16, String>) {
        match result {
            Ok(200) => _ = self.answered.fetch_add(1, Ordering::Relaxed),
            Ok(status) => self.fail(format!("answer {status}")),
            Err(error) => self.fail(error),
        }
    }

    fn fail(&self, failure: String) {
        self.failures.lock().unwrap().push(failure);
    }
}

/// How a client uses its connections.
#[derive(Clone, Copy)]
enum Habit {
    /// Keeps one per address, until an answer says that it is the last.
    Keep,
    /// Opens a connection for each request.
    Open,
}

/// How clients reach the processes.
#[derive(Clone, Copy)]
enum Route {
    /// They know all processes, and check which are ready.
    Direct,
    /// Through a balancer that checks which are ready.
    Balanced,
}

/// A client that sends its requests to the ready addresses of the fleet in turn.
async fn send(fleet: Arc<Fleet>, request: Arc<str>, habit: Habit, outcome: Arc<Outcome>) {
    let mut clients: Vec<Client> = fleet.addresses().map(Client::new).collect();
    let mut ticks = interval(EVERY);
    while !outcome.over.load(Ordering::Relaxed) {
        ticks.tick().await;
        let place = fleet.next();
        outcome.note(clients[place].send(&request).await);
        if matches!(habit, Habit::Open) {
            clients[place].hang_up();
        }
    }
}

fn process(pool: &PgPool) -> Command {
    let mut command = gatehouse(pool);
    command.env("GATEHOUSE_DRAIN_SECONDS", DRAIN);
    command
}

/// Starts two processes and many clients, restarts the processes one after the other, and fails if
/// a request has failed.
async fn restart_under_load(pool: &PgPool, route: Route) {
    let key = site_key(pool);
    sqlx::query("update plans set submissions_per_minute = 1000000")
        .execute(pool)
        .await
        .unwrap();
    let mut apis = vec![
        Api::launch(process(pool), &[]).await,
        Api::launch(process(pool), &[]).await,
    ];
    let addresses: Vec<SocketAddr> = apis.iter().map(|api| api.address).collect();
    let behind = Fleet::watched(addresses);
    let watched = Arc::clone(&behind);
    let (fleet, _between) = match route {
        Route::Direct => (behind, None),
        Route::Balanced => {
            let balancer = Balancer::start(behind).await;
            (Fleet::unwatched(balancer.address), Some(balancer))
        }
    };

    let outcome = Arc::new(Outcome::default());
    let request: Arc<str> = submission(&key).into();
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        clients.spawn(send(
            Arc::clone(&fleet),
            Arc::clone(&request),
            [Habit::Keep, Habit::Open][number % 2],
            Arc::clone(&outcome),
        ));
    }
    for api in &mut apis {
        sleep(PAUSE).await;
        watched.until_ready().await;
        api.stop().await;
        *api = Api::launch_at(api.address, process(pool), &[]).await;
    }
    sleep(PAUSE).await;
    outcome.over.store(true, Ordering::Relaxed);
    clients.join_all().await;

    let failures = outcome.failures.lock().unwrap();
    let answered = outcome.answered.load(Ordering::Relaxed);
    assert!(answered > 0);
    assert!(
        failures.is_empty(),
        "{} of {} requests failed, the first with {}",
        failures.len(),
        failures.len() + answered,
        failures[0]
    );
}

fn submission(key: &str) -> String {
    let body = json!({ "api_key": key, "body": "a text" }).to_string();
    format!(
        "POST /functions/v1/submit-media HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[sqlx::test(migrations = false)]
async fn case_54_a_rolling_restart_fails_no_request_of_clients_that_look_for_the_ready(
    pool: PgPool,
) {
    restart_under_load(&pool, Route::Direct).await;
}

#[sqlx::test(migrations = false)]
async fn case_54_a_rolling_restart_fails_no_request_behind_a_balancer_without_retries(
    pool: PgPool,
) {
    restart_under_load(&pool, Route::Balanced).await;
}
