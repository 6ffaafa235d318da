//! The audit log shows new and changed things with the members of the interface.

use serde_json::json;
use sqlx::PgPool;
use store::jobs;

use super::PDQ;
use crate::app::App;

#[sqlx::test(migrations = false)]
async fn the_audit_log_shows_hash_lists_imports_and_scans_as_the_answers_do(pool: PgPool) {
    let app = App::start(pool).await;
    app.leaves(jobs::HASH_IMPORTS);
    app.leaves(jobs::HASH_SCANS);
    let member = app.member(app.tenant.team).await;
    let new = json!({ "name": "Known", "kind": "deny", "max_distance": 20 });
    let list = member.post("/hash-lists", new).await.created();
    let recorded = app.recorded("hash_list.create").await;
    assert_eq!(recorded, json!({ "created": list }));

    let id = list["id"].as_str().unwrap();
    let path = format!("/hash-lists/{id}");
    let change = json!({ "description": "Removed before.", "max_distance": 31 });
    member.patch(&path, change).await.ok();
    let recorded = app.recorded("hash_list.update").await;
    let expected = json!({ "changed": {
        "description": { "from": null, "to": "Removed before." },
        "max_distance": { "from": 20, "to": 31 },
    } });
    assert_eq!(recorded, expected);

    member.entry(id, json!({ "pdq": PDQ })).await.created();
    let recorded = app.recorded("hash_entry.create").await;
    let hashes = json!({ "sha256": null, "pdq": PDQ });
    let expected = json!({ "created": { "hash_list_id": id, "hashes": hashes, "media_id": null } });
    assert_eq!(recorded, expected);

    for (kind, answer) in [
        ("import", member.upload(id, PDQ).await),
        (
            "scan",
            member.post(&format!("{path}/scans"), json!({})).await,
        ),
    ] {
        assert_eq!(answer.status, 202, "{answer:?}");
        let started = answer.json();
        let recorded = app.recorded(&format!("hash_{kind}.create")).await;
        let expected = json!({ "created": started });
        assert_eq!(recorded, expected);
        let cancel = format!("/hash-{kind}s/{}/cancel", started["id"].as_str().unwrap());
        let cancelled = member.send("POST", &cancel, "").await.ok();
        let recorded = app.recorded(&format!("hash_{kind}.cancel")).await;
        let expected = json!({ "cancelled": cancelled });
        assert_eq!(recorded, expected);
    }
}
