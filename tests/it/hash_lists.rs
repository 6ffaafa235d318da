//! Hash lists at work: known images are recognised on every worker at once, and what is done with whole lists survives kills.

use std::{io::Cursor, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use image::{ImageFormat, RgbImage, codecs::jpeg::JpegEncoder};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{DataDir, FakeProvider, Mode, Up, Worker, eventually, gatehouse, http};

/// Far longer than anything takes that is waited for here.
const PATIENCE: Duration = Duration::from_mins(2);

impl Up {
    /// A request to the management interface with the demo team's token.
    async fn call(
        &self,
        method: Method,
        path: &str,
        media_type: &str,
        body: String,
    ) -> (u16, Value) {
        let base = self.demo().base_url.replace("/functions/", "/management/");
        let request = http().request(method, format!("{base}{path}"));
        let request = request.bearer_auth(&self.demo().management_token);
        let answer = request.header("Content-Type", media_type).body(body).send();
        let answer = answer.await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.json().await.unwrap_or_default())
    }

    /// Something new.
    async fn made(&self, path: &str, body: Value) -> Value {
        let (status, made) = self.manage(path, &body).await;
        assert!(matches!(status, 201 | 202), "{path} {status} {made}");
        made
    }

    async fn seen(&self, path: &str) -> Value {
        let (status, seen) = self
            .call(Method::GET, path, "text/plain", String::new())
            .await;
        assert_eq!(status, 200, "{seen}");
        seen
    }

    async fn list(&self, name: &str, kind: &str) -> String {
        let list = self
            .made("/hash-lists", json!({ "name": name, "kind": kind }))
            .await;
        id(&list)
    }

    /// A rule group that rejects what is on these lists.
    async fn group(&self, lists: &[&str]) -> String {
        let rule =
            json!({ "name": "Known", "type": "image_hash", "lists": lists, "effect": "reject" });
        let group = json!({ "name": lists.concat(), "rules": [rule] });
        id(&self.made("/rule-groups", group).await)
    }

    /// Submits an image to be judged by this group.
    async fn submit_image(&self, group: &str, file: &[u8]) -> String {
        let image = BASE64_STANDARD.encode(file);
        self.submit(json!({ "content_base64": image, "rule_group_id": group }))
            .await
    }

    /// The verdict on an image that is judged by this group.
    async fn judged(&self, group: &str, file: &[u8]) -> Value {
        let media = self.submit_image(group, file).await;
        self.verdict(&media).await
    }

    async fn until_ended(&self, path: &str) -> Value {
        eventually("an end", PATIENCE, async || {
            let seen = self.seen(path).await;
            (seen["state"] != "running").then_some(seen)
        })
        .await
    }
}

fn id(thing: &Value) -> String {
    thing["id"].as_str().unwrap().to_owned()
}

/// A picture full of shapes, another one for each number, as a JPEG of some quality.
fn photo(number: u32, quality: u8) -> Vec<u8> {
    let mut state = u64::from(number) + 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(state >> 33).unwrap()) / f64::from(1_u32 << 31)
    };
    let waves: Vec<[f64; 4]> = (0..24)
        .map(|_| [next() * 0.15, next() * 0.15, next() * 6.3, next()])
        .collect();
    let picture = RgbImage::from_fn(256, 192, |x, y| {
        let (x, y) = (f64::from(x), f64::from(y));
        let value: f64 = waves
            .iter()
            .map(|[u, v, p, a]| a * (u * x + v * y + p).sin())
            .sum();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped"
        )]
        let value = (128.0 + 22.0 * value).clamp(0.0, 255.0) as u8;
        image::Rgb([value, value, 255 - value])
    });
    let mut file = Cursor::new(Vec::new());
    JpegEncoder::new_with_quality(&mut file, quality)
        .encode_image(&picture)
        .unwrap();
    file.into_inner()
}

async fn start(data: &DataDir, pool: &PgPool) -> Up {
    let url = pool.connect_options().to_url_lossy().to_string();
    Up::start(data, &["--database-url", &url, "--lease-seconds", "2"]).await
}

#[sqlx::test(migrations = false)]
async fn a_copy_of_a_listed_image_is_rejected_on_every_worker_from_then_on(pool: PgPool) {
    let data = DataDir::new();
    let up = start(&data, &pool).await;
    let mut command = gatehouse(&pool);
    command
        .env_remove("GATEHOUSE_MASTER_KEY")
        .env("GATEHOUSE_MASTER_KEY_FILE", data.path().join("master.key"));
    let _worker = Worker::launch(command).await;
    let (deny, allow) = (
        up.list("Deny", "deny").await,
        up.list("Allow", "allow").await,
    );
    let group = up.group(&[&deny, &allow]).await;
    // Something on the list, so that both processes hold it.
    let entries = format!("/hash-lists/{deny}/entries");
    up.made(&entries, json!({ "pdq": "0".repeat(64) })).await;
    let original = up.submit_image(&group, &photo(1, 95)).await;
    assert_eq!(up.verdict(&original).await["status"], "pending_review");
    for number in 2..12 {
        let verdict = up.judged(&group, &photo(number, 90)).await;
        assert_eq!(verdict["status"], "pending_review", "{verdict}");
    }

    let images = format!("/hash-lists/{deny}/images");
    let entry = up.made(&images, json!({ "media_id": original })).await;
    assert!(entry["pdq"].is_string(), "{entry}");
    for quality in [95, 80, 60, 50, 40, 45, 55, 65, 75, 85] {
        let verdict = up.judged(&group, &photo(1, quality)).await;
        assert_eq!(verdict["status"], "rejected", "{verdict}");
        assert_eq!(verdict["moderation_type"], "rule");
        let violation = &verdict["moderationResult"]["rule_violations"][0];
        assert_eq!(violation["rule_type"], "image_hash", "{verdict}");
        let details = violation["details"].as_str().unwrap();
        assert!(details.contains(&deny), "{details}");
    }
    let other = up.judged(&group, &photo(2, 60)).await;
    assert_eq!(other["status"], "pending_review", "{other}");

    // What is on an allow list of the same rule, too, is known and good.
    let images = format!("/hash-lists/{allow}/images");
    up.made(&images, json!({ "media_id": original })).await;
    for quality in [95, 70, 50] {
        let verdict = up.judged(&group, &photo(1, quality)).await;
        assert_eq!(verdict["status"], "approved", "{verdict}");
    }
    let entry = format!(
        "/hash-lists/{allow}/entries?near={}",
        entry["pdq"].as_str().unwrap()
    );
    let near = up.seen(&entry).await["data"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let entry = format!("/hash-lists/{allow}/entries/{near}");
    let (status, _) = up
        .call(Method::DELETE, &entry, "text/plain", String::new())
        .await;
    assert_eq!(status, 204);
    for quality in [90, 70, 50] {
        let verdict = up.judged(&group, &photo(1, quality)).await;
        assert_eq!(verdict["status"], "rejected", "{verdict}");
    }
}

#[sqlx::test(migrations = false)]
async fn an_image_on_an_allow_list_is_shown_to_no_provider_and_its_text_is(pool: PgPool) {
    let (data, provider) = (DataDir::new(), FakeProvider::openai(Mode::Well).await);
    let url = pool.connect_options().to_url_lossy().to_string();
    let provided = provider.options();
    let mut options = vec!["--database-url", &url];
    options.extend(provided.iter().map(String::as_str));
    let up = Up::start(&data, &options).await;
    let allow = up.list("Logos", "allow").await;
    let rules = json!([
        { "name": "Known", "type": "image_hash", "lists": [allow], "effect": "review" },
        { "name": "Violence", "type": "ai_threshold", "category": "violence", "reject_at": 0.5 },
    ]);
    let group = json!({ "name": "Images", "rules": rules });
    let group = id(&up.made("/rule-groups", group).await);
    let logo = FakeProvider::picture(96, 96, ImageFormat::Png, true);
    let first = up.submit_image(&group, &logo).await;
    assert_eq!(up.verdict(&first).await["status"], "rejected");
    assert_eq!(provider.asked(), 1);

    let images = format!("/hash-lists/{allow}/images");
    up.made(&images, json!({ "media_id": first })).await;
    let verdict = up.judged(&group, &logo).await;
    assert_eq!(verdict["status"], "approved", "{verdict}");
    assert_eq!(provider.asked(), 1);

    for (text, status) in [
        ("a calm text", "approved"),
        (FakeProvider::VIOLENT, "rejected"),
    ] {
        let image = BASE64_STANDARD.encode(&logo);
        let fields = json!({ "content_base64": image, "body": text, "rule_group_id": group });
        let media = up.submit(fields).await;
        let verdict = up.verdict(&media).await;
        assert_eq!(verdict["status"], status, "{verdict}");
    }
    assert_eq!(provider.asked(), 3, "each text once");
}

#[sqlx::test(migrations = false)]
async fn an_import_killed_midway_goes_on_and_reads_every_line_once(pool: PgPool) {
    let data = DataDir::new();
    let up = start(&data, &pool).await;
    let list = up.list("Exchange", "deny").await;
    let line = |number: u32| match number % 1_000 {
        999 => "no hash\n".to_owned(),
        _ => format!("{number:064x},line {number}\n"),
    };
    let file: String = (0..100_000).map(line).collect();
    let imports = format!("/hash-lists/{list}/imports");
    let (status, import) = up.call(Method::POST, &imports, "text/plain", file).await;
    assert_eq!(status, 202, "{import}");
    let path = format!("/hash-imports/{}", id(&import));
    let midway = eventually("the import is under way", PATIENCE, async || {
        let seen = up.seen(&path).await;
        (seen["lines"].as_i64() > Some(0)).then_some(seen)
    })
    .await;
    up.kill();
    assert_eq!(
        midway["state"], "running",
        "it was killed too late: {midway}"
    );

    let up = start(&data, &pool).await;
    let ended = up.until_ended(&path).await;
    assert_eq!(ended["state"], "finished", "{ended}");
    let counts = ["lines", "total_lines", "added", "existing", "refused"];
    let counts = counts.map(|name| ended[name].as_i64().unwrap());
    assert_eq!(counts, [100_000, 100_000, 99_900, 0, 100], "{ended}");
    let stored: i64 = sqlx::query_scalar("select count(*) from hash_entries")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(stored, 99_900);
    let refused = up.seen(&format!("{path}/refusals")).await;
    assert_eq!(refused["data"][1]["line"], 2_000);
    assert_eq!(
        up.seen(&format!("/hash-lists/{list}")).await["entry_count"],
        99_900
    );
}

/// Images of the demo site, by their hashes alone: every tenth is near the hash of nothing but ones.
async fn store_images(up: &Up, pool: &PgPool, images: i32) {
    sqlx::query(
        "with stored as (
             insert into media (id, team_id, site_id, content_type, status, verdict, group_versions)
             select
                 (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - n), 12, '0')
                 || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid,
                 s.team_id, s.id, 'image', 'approved', 1, '{}'
             from sites s
             cross join generate_series(1, $2) n
             where s.id = $1
             returning id, site_id
         )
         insert into media_images (media_id, site_id, format, sha256, pdq, pdq_quality)
         select
             id, site_id, 'jpeg', sha256(id::text::bytea),
             case when row_number() over () % 10 = 0
                 then decode(repeat('f', 60) || '0000', 'hex')
                 else decode(md5(id::text) || md5('b' || id::text), 'hex')
             end,
             100
         from stored",
    )
    .bind(up.demo().site_id.parse::<sqlx::types::Uuid>().unwrap())
    .bind(images)
    .execute(pool)
    .await
    .unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_scan_killed_midway_goes_on_and_meets_every_image_once(pool: PgPool) {
    let data = DataDir::new();
    let up = start(&data, &pool).await;
    store_images(&up, &pool, 60_000).await;
    let list = up.list("Exchange", "deny").await;
    let entries = format!("/hash-lists/{list}/entries");
    up.made(&entries, json!({ "pdq": "f".repeat(64) })).await;
    let scans = format!("/hash-lists/{list}/scans");
    let scan = up.made(&scans, json!({})).await;
    let path = format!("/hash-scans/{}", id(&scan));
    let midway = eventually("the scan is under way", PATIENCE, async || {
        let seen = up.seen(&path).await;
        (seen["looked_at"].as_i64() > Some(0)).then_some(seen)
    })
    .await;
    up.kill();
    assert_eq!(
        midway["state"], "running",
        "it was killed too late: {midway}"
    );

    let up = start(&data, &pool).await;
    let ended = up.until_ended(&path).await;
    assert_eq!(ended["state"], "finished", "{ended}");
    let counts = ["looked_at", "matched"].map(|name| ended[name].as_i64().unwrap());
    assert_eq!(counts, [60_000, 6_000], "{ended}");
    let stored: i64 = sqlx::query_scalar("select count(*) from image_matches where distance = 16")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(stored, 6_000);
    let found = up.seen(&format!("{path}/matches?limit=1")).await;
    assert_eq!(
        (&found["data"][0]["status"], &found["data"][0]["distance"]),
        (&json!("approved"), &json!(16))
    );
    // No verdict changed.
    let changed: i64 = sqlx::query_scalar("select count(*) from verdicts")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(changed, 0);

    let again = up.made(&scans, json!({})).await;
    let path = format!("/hash-scans/{}", id(&again));
    let (status, cancelled) = up
        .call(
            Method::POST,
            &format!("{path}/cancel"),
            "text/plain",
            String::new(),
        )
        .await;
    assert_eq!((status, &cancelled["state"]), (200, &json!("cancelled")));
    let jobs = "select count(*) from queue.jobs where queue = 'hash-scans'";
    eventually("its job ends", PATIENCE, async || {
        let jobs: i64 = sqlx::query_scalar(jobs).fetch_one(&pool).await.unwrap();
        (jobs == 0).then_some(())
    })
    .await;
    let after = up.seen(&path).await;
    assert_eq!(after["looked_at"], cancelled["looked_at"]);
}
