//! As many endpoints as permitted, which answer every webhook with 16 KiB, by turns 200 and 500. One-byte texts are submitted as
//! fast as the rate allows, and what was delivered is sent again by recoveries.

use std::time::Duration;

use serde_json::json;

use super::{
    heavy,
    team::{OwnSite, Team, one_byte, turn},
};

const MOST_ENDPOINTS: u64 = 300;
const CONNECTIONS: usize = 8;
const BETWEEN_RECOVERIES: Duration = Duration::from_millis(200);

pub(super) async fn attack(team: &Team) {
    let Some(site) = team.site("Stored", &heavy::light()).await else {
        return;
    };
    let path = |number: u64| {
        if number.is_multiple_of(2) {
            "/long/200"
        } else {
            "/long/500"
        }
    };
    let url = |number| team.url(number, path(number));
    let endpoints = team.endpoints(&site, MOST_ENDPOINTS, url).await;
    tokio::join!(
        team.submit(CONNECTIONS, |number| turn(&site.keys, number)
            .map(|key| one_byte(key))),
        recover(team, &endpoints),
        ping(team, &endpoints),
        look(team, &site),
    );
}

/// Has everything sent once more that was delivered.
async fn recover(team: &Team, endpoints: &[String]) {
    let mut client = team.client(2);
    for number in 0.. {
        tokio::time::sleep(BETWEEN_RECOVERIES).await;
        let Some(endpoint) = turn(endpoints, number) else {
            return;
        };
        let path = format!("/webhook-endpoints/{endpoint}/recoveries");
        let body = json!({ "kind": "delivered", "since": "2020-01-01T00:00:00Z" });
        team.manage(&mut client, "recover", ("POST", &path), Some(&body))
            .await;
    }
}

async fn ping(team: &Team, endpoints: &[String]) {
    let mut client = team.client(3);
    for number in 0.. {
        tokio::time::sleep(BETWEEN_RECOVERIES).await;
        let Some(endpoint) = turn(endpoints, number) else {
            return;
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
