//! Ten connections that make, try, edit and import heavy rule groups: with 60 patterns, with as
//! many as a group may have, and with few enough to be accepted.

use std::rc::Rc;

use futures::future::join_all;
use serde_json::{Value, json};

use super::{
    heavy_rules,
    team::{Said, Team, id},
};

const CONNECTIONS: usize = 10;
const SIZES: [usize; 6] = [60, 60, 157, 40, 10, 3];

pub(super) async fn attack(team: &Team) {
    let groups: Rc<[Value]> = (0..)
        .zip(SIZES)
        .map(|(variant, size)| heavy_rules::patterns(size, variant))
        .collect();
    let connections = (0..CONNECTIONS).map(|number| edit(team, number, Rc::clone(&groups)));
    join_all(connections).await;
}

async fn edit(team: &Team, connection: usize, groups: Rc<[Value]>) {
    let mut client = team.client(connection);
    let body = json!({ "name": format!("Light {connection}"), "rules": heavy_rules::light() });
    let own = loop {
        let made = team.manage(
            &mut client,
            "make a group",
            ("POST", "/rule-groups"),
            Some(&body),
        );
        match made.await {
            Said::Done(made) => break made,
            Said::Refused | Said::Enough => return,
            Said::Later => {}
        }
    };
    let Some(own_id) = id(&own) else { return };
    let mut revision = own["draft_revision"].clone();
    for number in connection.. {
        let rules = &groups[number % groups.len()];
        match number % 4 {
            0 => {
                let body =
                    json!({ "name": format!("Heavy {connection} {number}"), "rules": rules });
                let made = team.manage(
                    &mut client,
                    "make a heavy group",
                    ("POST", "/rule-groups"),
                    Some(&body),
                );
                // Accepted groups are deleted to free their place.
                if let Said::Done(made) = made.await
                    && let Some(made) = id(&made)
                {
                    let path = format!("/rule-groups/{made}");
                    team.manage(&mut client, "delete a group", ("DELETE", &path), None)
                        .await;
                }
            }
            1 => {
                let path = format!("/rule-groups/{own_id}/test");
                let body = json!({ "text": "x", "rules": rules });
                team.manage(&mut client, "try heavy rules", ("POST", &path), Some(&body))
                    .await;
            }
            2 => {
                let path = format!("/rule-groups/{own_id}/draft");
                let body = json!({ "revision": revision, "rules": rules });
                let edited = team.manage(
                    &mut client,
                    "edit a heavy group",
                    ("PUT", &path),
                    Some(&body),
                );
                if let Said::Done(edited) = edited.await {
                    revision = edited["revision"].clone();
                }
            }
            _ => {
                let path = format!("/rule-groups/{own_id}/import");
                let body = json!({ "name": "Imported", "rules": rules });
                let imported = team.manage(
                    &mut client,
                    "import heavy rules",
                    ("POST", &path),
                    Some(&body),
                );
                if let Said::Done(imported) = imported.await {
                    revision = imported["revision"].clone();
                }
            }
        }
    }
}
