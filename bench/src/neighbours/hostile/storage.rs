//! As many endpoints as permitted, which answer every webhook with 16 KiB, by turns 200 and 500. One-byte texts are submitted as
//! fast as the rate allows, and what was delivered is sent again by recoveries.

use std::time::Duration;

use serde_json::json;

use super::{
    heavy_rules,
    team::{OwnSite, Team, one_byte},
};

const CONNECTIONS: usize = 8;
const BETWEEN_RECOVERIES: Duration = Duration::from_millis(200);

pub(super) async fn attack(team: &Team) {
    let Some(site) = team.site("Stored", &heavy_rules::light()).await else {
        return;
    };
    let url = |number: u64| {
        let path = if number.is_multiple_of(2) {
            "/long/200"
        } else {
            "/long/500"
        };
        team.url(number, path)
    };
    tokio::join!(
        team.make_endpoints(&site, url),
        team.make_keys(&site),
        team.submit(CONNECTIONS, |number| site
            .key(number)
            .map(|key| one_byte(&key))),
        recover(team, &site),
        ping(team, &site),
        look(team, &site),
    );
}

/// Lets everything be sent again that was delivered.
async fn recover(team: &Team, site: &OwnSite) {
    let mut client = team.client(2);
    for number in 0.. {
        tokio::time::sleep(BETWEEN_RECOVERIES).await;
        let Some(endpoint) = site.endpoint(number) else {
            continue;
        };
        let path = format!("/webhook-endpoints/{endpoint}/recoveries");
        let body = json!({ "kind": "delivered", "since": site.created_at });
        team.manage(&mut client, "recover", ("POST", &path), Some(&body))
            .await;
    }
}

async fn ping(team: &Team, site: &OwnSite) {
    let mut client = team.client(3);
    for number in 0.. {
        tokio::time::sleep(BETWEEN_RECOVERIES).await;
        let Some(endpoint) = site.endpoint(number) else {
            continue;
        };
        let path = format!("/webhook-endpoints/{endpoint}/ping");
        team.manage(&mut client, "ping", ("POST", &path), None)
            .await;
    }
}

/// Reads what is stored, a hundred deliveries at a time.
async fn look(team: &Team, site: &OwnSite) {
    let mut client = team.client(0);
    let path = format!("/sites/{}/deliveries?limit=100", site.id);
    loop {
        tokio::time::sleep(BETWEEN_RECOVERIES).await;
        team.manage(&mut client, "list deliveries", ("GET", &path), None)
            .await;
    }
}
