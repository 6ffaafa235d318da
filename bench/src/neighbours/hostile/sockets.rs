//! Images and endpoints on thousands of hosts: some never answer, the others answer and keep the connection open.

use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use tokio::time::sleep;

use super::{
    heavy_rules,
    team::{MOST_ENDPOINTS, OwnSite, Team, submission},
};

const CONNECTIONS: usize = 12;
const MOVERS: usize = 2;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// Endpoints and images are on different hosts.
const IMAGES: u64 = 1 << 20;

pub(super) async fn attack(team: &Team) {
    let Some(site) = team.site("Spread", &heavy_rules::light()).await else {
        return;
    };
    let next = |number: u64| {
        let key = site.key(number)?;
        let image = match number % 3 {
            0 => "/silent",
            _ => "/image",
        };
        let url = team.url(IMAGES + number, image);
        Some(submission(
            &json!({ "api_key": key, "body": "x", "content_url": url }),
        ))
    };
    let movers = (0..MOVERS).map(|number| relocate(team, &site, number));
    tokio::join!(
        team.make_keys(&site),
        team.make_endpoints(&site, |number| team.url(number, path(number))),
        team.submit(CONNECTIONS, next),
        join_all(movers),
    );
}

/// Moves endpoints to new hosts without end.
async fn relocate(team: &Team, site: &OwnSite, mover: usize) {
    let mut client = team.client(2 + mover);
    for number in (MOST_ENDPOINTS + mover as u64..).step_by(MOVERS) {
        let Some(endpoint) = site.endpoint(number) else {
            sleep(BETWEEN_LOOKS).await;
            continue;
        };
        let to = format!("/webhook-endpoints/{endpoint}");
        let body = json!({ "url": team.url(number, path(number)) });
        team.manage(&mut client, "move an endpoint", ("PATCH", &to), Some(&body))
            .await;
    }
}

fn path(number: u64) -> &'static str {
    if number.is_multiple_of(4) {
        "/silent"
    } else {
        "/ok"
    }
}
