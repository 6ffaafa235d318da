//! Hash lists, what stands on them, and what is done with them.

mod audit_log;
mod rules;

use domain::{
    hash_list::parse_line,
    id::{HashEntryId, HashImportId, HashScanId, TeamId},
    image_hash::{HashAlgorithm, HashMatch, ListKind},
    scope::Scope,
};
use queue::{Effect, FinishTx, JobId, NewJobs, Survivor};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::hash_list::{
    import::slice::{self as import_slice, Imported},
    scan::slice::{self as scan_slice, Scanned},
};
use uuid::Uuid;

use super::{Caller, document::assert_answers};
use crate::{
    app::{App, Tenant},
    client::Answer,
};

const PDQ: &str = "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22";

impl Caller<'_> {
    pub(super) async fn new_list(&self, new: Value) -> String {
        let list = self.post("/hash-lists", new).await.created();
        assert_answers("POST", "/hash-lists", &list);
        list["id"].as_str().unwrap().to_owned()
    }

    async fn deny(&self, name: &str) -> String {
        self.new_list(json!({ "name": name, "kind": "deny" })).await
    }

    async fn entry(&self, list: &str, new: Value) -> Answer {
        self.post(&format!("/hash-lists/{list}/entries"), new).await
    }

    async fn upload(&self, list: &str, file: &str) -> Answer {
        self.app.leaves(store::jobs::HASH_IMPORTS);
        let path = format!("/hash-lists/{list}/imports");
        self.send_as("text/plain", "POST", &path, file).await
    }

    /// A list of a team, and an item whose image has hashes.
    pub(super) async fn known_image(&self, media: &str, team: TeamId) -> String {
        let list = json!({ "name": "known", "kind": "deny", "team_id": team });
        let list = self.new_list(list).await;
        hash(&self.app.pool, media, 7).await;
        list
    }
}

/// Gives an item an image with hashes.
async fn hash(pool: &PgPool, media: &str, byte: u8) {
    sqlx::query(
        "insert into media_images (media_id, format, bytes, sha256, pdq) values ($1, 'png', '', $2, $2)
         on conflict (media_id) do update set sha256 = $2, pdq = $2",
    )
    .bind(media.parse::<Uuid>().unwrap())
    .bind(vec![byte; 32])
    .execute(pool)
    .await
    .unwrap();
}

/// What a finisher does.
async fn finish<E: Effect>(app: &App, effect: E) {
    let survivor = Survivor {
        job: JobId(1),
        attempt: 1,
        effect: &effect,
    };
    let mut db = app.pool.begin().await.unwrap();
    let mut tx = FinishTx {
        conn: &mut db,
        jobs: NewJobs::new(),
    };
    E::apply(&[survivor], &mut tx).await.unwrap();
    db.commit().await.unwrap();
}

fn id_of(thing: &Value) -> Uuid {
    thing["id"].as_str().unwrap().parse().unwrap()
}

#[sqlx::test(migrations = false)]
async fn a_list_is_created_changed_and_deleted_and_every_change_is_recorded(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let list = member.deny("Removed").await;
    let path = format!("/hash-lists/{list}");
    let shown = member.get(&path).await.ok();
    assert_answers("GET", "/hash-lists/{hash_list_id}", &shown);
    assert_eq!(
        (
            &shown["max_distance"],
            &shown["entry_count"],
            &shown["team_id"]
        ),
        (&json!(31), &json!(0), &json!(app.tenant.team))
    );
    let change =
        json!({ "name": "Gone", "max_distance": 0, "description": "What people removed." });
    let changed = member.patch(&path, change).await.ok();
    assert_eq!(
        (&changed["name"], &changed["max_distance"]),
        (&json!("Gone"), &json!(0))
    );
    let emptied = member
        .patch(&path, json!({ "description": null }))
        .await
        .ok();
    assert_eq!(emptied["description"], Value::Null);
    let nothing = member.patch(&path, json!({})).await.ok();
    assert_eq!(nothing, emptied);
    member.deny("Other").await;
    let taken = member.patch(&path, json!({ "name": "Other" })).await;
    taken.problem(409, "name_taken");
    for (wrong, field) in [
        (json!({ "kind": "allow" }), "kind"),
        (json!({ "max_distance": 32 }), "max_distance"),
        (json!({ "max_distance": null }), "max_distance"),
        (json!({ "name": "" }), "name"),
    ] {
        member
            .patch(&path, wrong)
            .await
            .blames("invalid_request", &[field]);
    }
    member.delete(&path).await.done();
    member.get(&path).await.problem(404, "not_found");
    member.deny("Gone").await;
    let log = member
        .get(&format!("/audit-log?target_id={list}"))
        .await
        .ok();
    let actions: Vec<&Value> = log["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| &e["action"])
        .collect();
    assert_eq!(
        actions,
        [
            "hash_list.delete",
            "hash_list.update",
            "hash_list.update",
            "hash_list.create"
        ]
    );
}

#[sqlx::test(migrations = false)]
async fn hashes_are_put_on_a_list_found_and_taken_off(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let list = member.deny("Removed").await;
    let near = format!("f9{}", &PDQ[2..]);
    let entry = member
        .entry(&list, json!({ "pdq": PDQ.to_uppercase(), "note": "one" }))
        .await;
    let entry = entry.created();
    assert_answers("POST", "/hash-lists/{hash_list_id}/entries", &entry);
    assert_eq!(
        (&entry["pdq"], &entry["sha256"]),
        (&json!(PDQ), &Value::Null)
    );
    let again = member.entry(&list, json!({ "pdq": PDQ })).await;
    let detail = again.problem(409, "already_listed")["detail"].to_string();
    assert!(detail.contains(entry["id"].as_str().unwrap()), "{detail}");
    member
        .entry(&list, json!({ "sha256": PDQ }))
        .await
        .created();
    member.entry(&list, json!({ "pdq": near })).await.created();
    for (wrong, field) in [
        (json!({}), "pdq"),
        (json!({ "pdq": "f8" }), "pdq"),
        (json!({ "sha256": 7 }), "sha256"),
        (json!({ "pdq": PDQ, "note": "" }), "note"),
    ] {
        member
            .entry(&list, wrong)
            .await
            .blames("invalid_request", &[field]);
    }

    let entries = format!("/hash-lists/{list}/entries");
    let found = async |query: &str| {
        let part = member.get(&format!("{entries}?{query}")).await.ok();
        assert_answers("GET", "/hash-lists/{hash_list_id}/entries", &part);
        let data = part["data"].as_array().unwrap().clone();
        data.iter()
            .map(|e| e["distance"].clone())
            .collect::<Vec<_>>()
    };
    let none = Value::Null;
    assert_eq!(found("").await.len(), 3);
    assert_eq!(found("hash=F8F8").await, std::slice::from_ref(&none));
    assert_eq!(found("hash=f8f9").await, [] as [Value; 0]);
    assert_eq!(found(&format!("algorithm=sha256&hash={PDQ}")).await, [none]);
    assert_eq!(found(&format!("near={PDQ}")).await, [json!(0), json!(1)]);
    let both = member.get(&format!("{entries}?near={PDQ}&hash=f8f8")).await;
    both.blames("invalid_request", &["near"]);
    for hash in ["f8f", "x8f8", ""] {
        let wrong = member.get(&format!("{entries}?hash={hash}")).await;
        wrong.blames("invalid_request", &["hash"]);
    }

    let one = format!("{entries}/{}", entry["id"].as_str().unwrap());
    assert_eq!(member.get(&one).await.ok(), entry);
    member.delete(&one).await.done();
    member.delete(&one).await.problem(404, "not_found");
    member.get(&one).await.problem(404, "not_found");
    assert_eq!(found(&format!("near={PDQ}")).await, [json!(1)]);
    let shown = member.get(&format!("/hash-lists/{list}")).await.ok();
    assert_eq!(
        (&shown["entry_count"], &shown["revision"]),
        (&json!(2), &json!(4))
    );
}

#[sqlx::test(migrations = false)]
async fn an_items_image_is_put_on_a_list_by_its_stored_hashes(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let list = member.deny("Removed").await;
    let images = format!("/hash-lists/{list}/images");
    let media = app.submitted("a text").await;
    let add = async |media: &str| member.post(&images, json!({ "media_id": media })).await;
    add(&media).await.problem(409, "image_not_hashed");
    hash(&app.pool, &media, 7).await;
    let entry = add(&media).await.created();
    assert_eq!(entry["media_id"], json!(media));
    assert_eq!(
        (&entry["pdq"], &entry["sha256"]),
        (&json!("07".repeat(32)), &json!("07".repeat(32)))
    );
    add(&media).await.problem(409, "already_listed");
    add(&Uuid::now_v7().to_string())
        .await
        .blames("invalid_request", &["media_id"]);
    let blind = app
        .caller(Some(app.tenant.team), &[Scope::HashListsWrite])
        .await;
    let refused = blind.post(&images, json!({ "media_id": media })).await;
    refused.problem(403, "missing_scope");

    // An operator puts any team's image on a shared list, and none on another team's.
    let operator = app.operator().await;
    let there = Tenant::create(&app.pool, "there").await;
    let theirs = json!({ "name": "Theirs", "kind": "deny", "team_id": there.team });
    let theirs = operator.new_list(theirs).await;
    let of_ours = json!({ "media_id": media });
    let refused = operator
        .post(&format!("/hash-lists/{theirs}/images"), of_ours.clone())
        .await;
    refused.blames("invalid_request", &["media_id"]);
    let shared = operator.deny("Shared").await;
    operator
        .post(&format!("/hash-lists/{shared}/images"), of_ours)
        .await
        .created();
}

#[sqlx::test(migrations = false)]
async fn teams_know_of_shared_lists_and_not_of_what_is_on_them(pool: PgPool) {
    let app = App::start(pool).await;
    let (operator, member) = (app.operator().await, app.member(app.tenant.team).await);
    let shared = operator.deny("Exchange").await;
    let entry = operator
        .entry(&shared, json!({ "pdq": PDQ }))
        .await
        .created();
    let path = format!("/hash-lists/{shared}");
    let shown = member.get(&path).await.ok();
    assert_answers("GET", "/hash-lists/{hash_list_id}", &shown);
    assert_eq!(
        (&shown["name"], &shown["kind"]),
        (&json!("Exchange"), &json!("deny"))
    );
    assert_eq!(
        (&shown["team_id"], &shown["entry_count"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(member.get("/hash-lists").await.ok()["data"], json!([shown]));
    assert_eq!(operator.get(&path).await.ok()["entry_count"], 1);

    let one = format!("{path}/entries/{}", entry["id"].as_str().unwrap());
    let new = json!({ "pdq": "0".repeat(64) });
    for refused in [
        member.patch(&path, json!({ "name": "Ours" })).await,
        member.delete(&path).await,
        member.get(&format!("{path}/entries")).await,
        member.get(&format!("{path}/entries?near={PDQ}")).await,
        member.post(&format!("{path}/entries"), new).await,
        member.get(&one).await,
        member.delete(&one).await,
        member.get(&format!("{path}/imports")).await,
        member.upload(&shared, PDQ).await,
    ] {
        refused.problem(403, "shared_list");
    }
    // Their own items they may hold against it; what others found is not told.
    app.leaves(store::jobs::HASH_SCANS);
    let scans = format!("{path}/scans");
    let own = member.post(&scans, json!({})).await;
    assert_eq!(own.status, 202, "{own:?}");
    assert_eq!(own.json()["team_id"], json!(app.tenant.team));
    let all = operator.post(&scans, json!({})).await.json();
    assert_eq!(all["team_id"], Value::Null);
    let seen = member.get(&scans).await.ok();
    assert_eq!(seen["data"], json!([own.json()]));
    let hidden = format!("/hash-scans/{}", all["id"].as_str().unwrap());
    member.get(&hidden).await.problem(404, "not_found");
    // A list cannot be made a shared one by leaving out the team.
    let named = json!({ "name": "Mine", "kind": "allow" });
    let mine = member.post("/hash-lists", named).await.created();
    assert_eq!(mine["team_id"], json!(app.tenant.team));
}

#[sqlx::test(migrations = false)]
async fn a_file_is_imported_with_progress_and_its_wrong_lines_are_told(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let list = member.deny("Removed").await;
    let file = format!("# header\n{PDQ},one\nnonsense\nsha256:{PDQ}\n{PDQ}\n\nmd5:00,x\n");
    let started = member.upload(&list, &file).await;
    assert_eq!(started.status, 202, "{started:?}");
    let started = started.json();
    assert_answers("POST", "/hash-lists/{hash_list_id}/imports", &started);
    assert_eq!(
        (&started["state"], &started["total_lines"]),
        (&json!("running"), &json!(7))
    );
    let id = id_of(&started);
    let jobs = "select count(*) from queue.jobs where queue = 'hash-imports'";
    assert_eq!(app.count(jobs).await, 1);

    let chunk = import_slice::next(&app.pool, HashImportId::from(id)).await;
    let chunk = chunk.unwrap().unwrap();
    let mut imported = Imported::new(&chunk);
    for (number, line) in (1..).zip(chunk.bytes.split_inclusive(|byte| *byte == b'\n')) {
        imported.add(number, parse_line(line, HashAlgorithm::Pdq));
    }
    finish(&app, imported).await;
    let ended = member.get(&format!("/hash-imports/{id}")).await.ok();
    assert_answers("GET", "/hash-imports/{hash_import_id}", &ended);
    assert_eq!(ended["state"], "finished");
    let counts =
        ["lines", "added", "existing", "refused"].map(|name| ended[name].as_i64().unwrap());
    assert_eq!(counts, [7, 2, 1, 2]);
    let refusals = format!("/hash-imports/{id}/refusals");
    let first = member.get(&format!("{refusals}?limit=1")).await.ok();
    assert_answers("GET", "/hash-imports/{hash_import_id}/refusals", &first);
    assert_eq!(first["data"][0]["line"], 3);
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = member
        .get(&format!("{refusals}?cursor={cursor}"))
        .await
        .ok();
    assert_eq!(rest["data"][0]["line"], 7);
    assert_eq!(rest["next_cursor"], Value::Null);
    assert_eq!(
        member
            .get(&format!("/hash-lists/{list}/imports"))
            .await
            .ok()["data"],
        json!([ended])
    );
    // One that has ended stays as it is.
    let cancel = format!("/hash-imports/{id}/cancel");
    assert_eq!(member.send("POST", &cancel, "").await.ok(), ended);
    let other = member.upload(&list, PDQ).await.json();
    let cancel = format!("/hash-imports/{}/cancel", other["id"].as_str().unwrap());
    assert_eq!(
        member.send("POST", &cancel, "").await.ok()["state"],
        "cancelled"
    );

    let path = format!("/hash-lists/{list}/imports");
    let json = member.send("POST", &path, "{}").await;
    json.problem(415, "unsupported_media_type");
    let csv = member
        .send_as("text/csv; charset=utf-8", "POST", &path, PDQ)
        .await;
    assert_eq!(csv.status, 202, "{csv:?}");
    let large = "f".repeat((16 << 20) + 1);
    member
        .upload(&list, &large)
        .await
        .problem(413, "payload_too_large");
}

#[sqlx::test(migrations = false)]
async fn what_a_scan_finds_is_listed_with_where_the_items_stand_now(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let list = member.deny("Removed").await;
    let media = app.in_review("an image, let us say").await;
    hash(&app.pool, &media, 7).await;
    app.leaves(store::jobs::HASH_SCANS);
    let scans = format!("/hash-lists/{list}/scans");
    let started = member.post(&scans, json!({ "since_revision": 0 })).await;
    assert_eq!(started.status, 202, "{started:?}");
    let started = started.json();
    assert_answers("POST", "/hash-lists/{hash_list_id}/scans", &started);
    member
        .post(&scans, json!({}))
        .await
        .problem(409, "scan_running");
    let id = id_of(&started);
    let slice = scan_slice::next(&app.pool, HashScanId::from(id)).await;
    let slice = slice.unwrap().unwrap();
    let entry = Uuid::now_v7();
    let found = HashMatch {
        list: list.parse().unwrap(),
        kind: ListKind::Deny,
        entry: HashEntryId::from(entry),
        algorithm: HashAlgorithm::Pdq,
        distance: 4,
    };
    let matches = vec![(slice.images[0].0, found)];
    finish(&app, Scanned::new(&slice, matches)).await;
    let ended = member.get(&format!("/hash-scans/{id}")).await.ok();
    assert_answers("GET", "/hash-scans/{hash_scan_id}", &ended);
    assert_eq!(
        (&ended["state"], &ended["looked_at"], &ended["matched"]),
        (&json!("finished"), &json!(1), &json!(1))
    );
    let listed = member.get(&format!("/hash-scans/{id}/matches")).await.ok();
    assert_answers("GET", "/hash-scans/{hash_scan_id}/matches", &listed);
    let expected = json!([{
        "media_id": media, "status": "pending_review", "hash_entry_id": entry, "algorithm": "pdq", "distance": 4,
    }]);
    assert_eq!(listed["data"], expected);
    let cancel = format!("/hash-scans/{id}/cancel");
    assert_eq!(member.send("POST", &cancel, "").await.ok(), ended);
    let again = member.post(&scans, json!({})).await.json();
    let cancel = format!("/hash-scans/{}/cancel", again["id"].as_str().unwrap());
    assert_eq!(
        member.send("POST", &cancel, "").await.ok()["state"],
        "cancelled"
    );
    let operator = app.operator().await;
    let there = Tenant::create(&app.pool, "there").await;
    let wrong = operator
        .post(&scans, json!({ "team_id": there.team }))
        .await;
    wrong.blames("invalid_request", &["team_id"]);
}
