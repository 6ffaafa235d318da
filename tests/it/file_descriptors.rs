//! File descriptors of a whole process: how many of them a tenant's receivers, images and clients
//! can use, and who is served meanwhile. Each name begins with the number of its case in
//! `docs/reliability.md`.

mod connection_shares;
mod egress_exception;
mod exhaustion;
mod failing_image;

use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{DataDir, Receiver, SOON, Site, Up, http, new_site, text};

/// How many files a process may have open in tests that are about other limits.
const FILES: u32 = 4_096;

/// Starts one with a demo on this database.
async fn start(pool: &PgPool, data: &DataDir, files: u32, options: &[&str]) -> Up {
    let database = pool.connect_options().to_url_lossy().to_string();
    let options = [&["--database-url", &database, "--demo"][..], options].concat();
    Up::start_with_files(data, files, &options).await
}

/// A site of another team than the demo's, with an endpoint at this receiver.
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
