//! The management interface as fast as it answers: lists in parts of a hundred, the audit log, tokens that are refused, and
//! tokens that do not exist.

use futures::future::join_all;
use serde_json::json;

use super::{
    heavy_rules,
    team::{Team, one_byte},
};
use crate::http;

const CONNECTIONS: usize = 64;
/// Connections that submit, so that there is something to list.
const SUBMITTERS: usize = 2;

pub(super) async fn attack(team: &Team) {
    let Some(site) = team.site("Listed", &heavy_rules::light()).await else {
        return;
    };
    let (own, stranger) = (&*team.brief.token, format!("mgmt_{}", "0".repeat(32)));
    let list = |what, path: String, token: &str| (what, http::managed("GET", &path, token, None));
    let mut requests = vec![
        list("list media", "/media?limit=100".to_owned(), own),
        list(
            "list reviews",
            "/media?limit=100&status=pending_review".to_owned(),
            own,
        ),
        list("read the audit log", "/audit-log?limit=100".to_owned(), own),
        list("list groups", "/rule-groups?limit=100".to_owned(), own),
        list(
            "list deliveries",
            format!("/sites/{}/deliveries?limit=100", site.id),
            own,
        ),
        list(
            "list events",
            format!("/sites/{}/webhook-events?limit=100", site.id),
            own,
        ),
        list("list tokens", "/tokens?limit=100".to_owned(), own),
        list("use an unknown token", "/media".to_owned(), &stranger),
    ];
    let token = json!({ "name": "Expired", "scopes": ["media:read"], "expires_at": "2020-01-01T00:00:00Z" });
    requests.push((
        "make a token that is refused",
        http::managed("POST", "/tokens", own, Some(&token)),
    ));
    let clients = (0..CONNECTIONS).map(|connection| {
        let requests = &requests;
        async move {
            let mut client = team.client(connection);
            for number in connection.. {
                let (what, request) = &requests[number % requests.len()];
                team.send(&mut client, what, request).await;
            }
        }
    });
    let submitting = team.submit(SUBMITTERS, |number| {
        site.key(number).map(|key| one_byte(&key))
    });
    tokio::join!(team.make_keys(&site), join_all(clients), submitting);
}
