//! Hash lists: entries, imports, scans and settings.

use domain::{image_hash::ListKind, role::Role};
use management::{
    Caller,
    hash_lists::{self, NewHashList},
};
use poem::http::StatusCode;
use sqlx::PgPool;
use uuid::Uuid;

use crate::{
    browser::{Browser, Stage},
    items::encoded,
    seed::{HOSTILE, Judged, is_harmless},
};

#[sqlx::test(migrations = false)]
async fn an_admin_creates_a_list_changes_it_and_deletes_it_by_its_name(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let lists = format!("/t/{}/hash-lists", stage.team);
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    assert!(
        admin
            .get(&lists)
            .await
            .text
            .contains("Create the first list")
    );
    for (form, problem) in [
        ("name=&kind=deny&max_distance=31", "name-problem"),
        ("name=a&kind=grey&max_distance=31", "kind-problem"),
        ("name=a&kind=deny&max_distance=32", "max_distance-problem"),
        ("name=a&kind=deny&max_distance=", "max_distance-problem"),
    ] {
        let wrong = admin.post(&format!("{lists}/new"), form).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{form}");
        assert!(wrong.text.contains(problem), "{form}: {}", wrong.text);
    }
    let list = create(&stage, &mut admin, "Known").await;
    let settings = format!("{list}/settings");
    let wrong = admin.post(&settings, "name=Kept&max_distance=x").await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.text.contains("max_distance-problem") && wrong.text.contains("value=\"Kept\""));
    let form = format!(
        "name=%3Cb%3E&max_distance=7&description={}",
        encoded(HOSTILE)
    );
    let changed = admin.post(&settings, &form).await;
    assert_eq!(changed.leads_to(), format!("{settings}?done=saved"));
    let page = admin.get(&list).await.text;
    assert!(
        is_harmless(&page) && page.contains("up to 7 of 256 bits"),
        "{page}"
    );
    let page = admin.get(&lists).await.text;
    assert!(is_harmless(&page) && page.contains("&#60;b&#62;"), "{page}");

    let wrong = admin.post(&format!("{list}/delete"), "typed=b").await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.text.contains("typed-problem"), "{}", wrong.text);
    let deleted = admin.post(&format!("{list}/delete"), "typed=%3Cb%3E").await;
    assert_eq!(
        deleted.leads_to(),
        format!("{lists}?done=hash-list-deleted")
    );
    assert_eq!(admin.get(&list).await.status, StatusCode::NOT_FOUND);
    for action in ["hash_list.create", "hash_list.update", "hash_list.delete"] {
        assert_eq!(stage.recorded(action).await, ["Ada"], "{action}");
    }
}

#[sqlx::test(migrations = false)]
async fn entries_are_added_found_and_removed(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let list = create(&stage, &mut admin, "Known").await;
    assert!(admin.get(&list).await.text.contains("No entries yet"));
    let (first, near, far) = (
        "f0".repeat(32),
        format!("{}f1", "f0".repeat(31)),
        "0f".repeat(32),
    );
    for (form, problem) in [
        ("pdq=f0&sha256=&note=".to_owned(), "pdq-problem"),
        ("pdq=&sha256=xyz&note=".to_owned(), "sha256-problem"),
        ("pdq=&sha256=&note=".to_owned(), "pdq-problem"),
        (
            format!("pdq={first}&note={}", "n".repeat(1_001)),
            "note-problem",
        ),
    ] {
        let wrong = admin.post(&format!("{list}/entries"), &form).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{form}");
        assert!(wrong.text.contains(problem), "{form}: {}", wrong.text);
    }
    let entries = format!("{list}/entries");
    let hostile = format!("pdq={first}&sha256={far}&note={}", encoded(HOSTILE));
    for form in [
        hostile.as_str(),
        &format!("pdq={near}"),
        &format!("pdq={far}"),
    ] {
        let added = admin.post(&entries, form).await;
        assert_eq!(added.leads_to(), format!("{list}?done=hash-added"));
    }
    let twice = admin.post(&entries, &hostile).await;
    assert!(
        twice.text.contains("stands on the list already"),
        "{}",
        twice.text
    );
    let all = admin.get(&list).await.text;
    assert!(is_harmless(&all) && all.contains("3 entries"), "{all}");
    for (query, expected) in [
        ("hash=F0F0&how=pdq".to_owned(), [true, true, false]),
        (format!("hash={near}&how=pdq"), [false, true, false]),
        (format!("hash={first}&how=near"), [true, true, false]),
        (
            format!("hash={}&how=sha256", "0f".repeat(4)),
            [true, false, false],
        ),
    ] {
        let page = admin.get(&format!("{list}?{query}")).await.text;
        let (_, table) = page.split_once("<tbody>").unwrap();
        let found = [&first, &near, &far].map(|hash| {
            table.contains(&format!(
                "<small>PDQ</small><code class=\"hash\">{hash}</code>"
            ))
        });
        assert_eq!(found, expected, "{query}");
        assert_eq!(
            page.contains("differ\">1</td>"),
            query.contains("near"),
            "{query}"
        );
    }
    for query in ["hash=f0f&how=pdq", "hash=f0f0&how=near", "hash=%22%3E"] {
        let wrong = admin.get(&format!("{list}?{query}")).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{query}");
        assert!(wrong.text.contains("hash-problem"), "{query}");
    }
    let page = admin.get(&format!("{list}?hash={near}&how=pdq")).await.text;
    let entry = crate::browser::between(&page, "/entries/", "/remove").to_owned();
    let removed = admin.post(&format!("{entries}/{entry}/remove"), "").await;
    assert_eq!(removed.leads_to(), format!("{list}?done=hash-removed"));
    assert!(!admin.get(&list).await.text.contains(&near));
    assert_eq!(stage.recorded("hash_entry.create").await.len(), 3);
    assert_eq!(stage.recorded("hash_entry.delete").await, ["Ada"]);
}

#[sqlx::test(migrations = false)]
async fn an_item_is_added_by_its_id_if_it_has_hashes(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Forum").await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let list = create(&stage, &mut admin, "Known").await;
    let (text, image) = (
        stage.judged(site, Judged::text("a")).await,
        stage.judged(site, Judged::text("b")).await,
    );
    stage.image(image, [7; 32]).await;
    let images = format!("{list}/images");
    let missing = Uuid::now_v7();
    for (id, problem) in [
        ("me".to_owned(), "media_id-problem"),
        (missing.to_string(), "media_id-problem"),
        (text.to_string(), "none that could be hashed"),
    ] {
        let wrong = admin.post(&images, &format!("media_id={id}")).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{id}");
        assert!(
            wrong.text.contains(problem) && wrong.text.contains(&id),
            "{}",
            wrong.text
        );
    }
    let added = admin.post(&images, &format!("media_id={image}")).await;
    assert_eq!(added.leads_to(), format!("{list}?done=image-listed"));
    assert!(admin.get(&list).await.text.contains(&"07".repeat(32)));
}

#[sqlx::test(migrations = false)]
async fn an_import_shows_its_progress_and_what_it_refused(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let list = create(&stage, &mut admin, "Known").await;
    let imports = format!("{list}/imports");
    assert!(admin.get(&imports).await.text.contains("No imports"));
    for (form, problem) in [
        ("hashes=+%0D%0A&algorithm=pdq", "hashes-problem"),
        ("hashes=a&algorithm=md5", "algorithm-problem"),
    ] {
        let wrong = admin.post(&imports, form).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{form}");
        assert!(wrong.text.contains(problem), "{form}: {}", wrong.text);
    }
    let form = format!(
        "algorithm=sha256&hashes={}%0D%0Anonsense%0D%0A%0D%0A{}",
        "ab".repeat(32),
        "cd".repeat(32)
    );
    let started = admin.post(&imports, &form).await;
    let import = started.leads_to().to_owned();
    let page = admin.get(&import).await.text;
    assert!(
        page.contains("0 of 4 lines") && page.contains("data-live"),
        "{page}"
    );
    assert!(page.contains("Cancel the import"), "{page}");

    // What the worker writes.
    let id: Uuid = import.rsplit_once('/').unwrap().1.parse().unwrap();
    sqlx::query("update hash_imports set lines = 2, added = 1, refused = 1 where id = $1")
        .bind(id)
        .execute(&pool)
        .await
        .unwrap();
    sqlx::query("insert into hash_import_refusals (import_id, line, reason) values ($1, 2, $2)")
        .bind(id)
        .bind(format!("has {HOSTILE}"))
        .execute(&pool)
        .await
        .unwrap();
    let page = admin.get(&import).await.text;
    assert!(
        page.contains("2 of 4 lines") && page.contains("width=\"50\""),
        "{page}"
    );
    assert!(
        page.contains("&#60;script&#62;alert(1)") && !page.contains("<script>alert"),
        "{page}"
    );
    assert!(admin.get(&imports).await.text.contains(&import));

    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    assert!(!viewer.get(&import).await.text.contains("Cancel the import"));
    let refused = viewer.post(&format!("{import}/cancel"), "").await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let cancelled = admin.post(&format!("{import}/cancel"), "").await;
    assert_eq!(cancelled.leads_to(), import);
    let page = admin.get(&import).await.text;
    assert!(
        page.contains("cancelled") && !page.contains("data-live"),
        "{page}"
    );
    assert_eq!(stage.recorded("hash_import.create").await, ["Ada"]);
    assert_eq!(stage.recorded("hash_import.cancel").await, ["Ada"]);

    // An import of another list is not found below this one.
    let other = create(&stage, &mut admin, "Other").await;
    for path in [
        format!("{other}/imports/{id}"),
        format!("{list}/imports/{}", Uuid::now_v7()),
    ] {
        assert_eq!(admin.get(&path).await.status, StatusCode::NOT_FOUND);
        assert_eq!(
            admin.post(&format!("{path}/cancel"), "").await.status,
            StatusCode::NOT_FOUND
        );
    }
}

#[sqlx::test(migrations = false)]
async fn a_scan_shows_its_progress_and_the_items_on_the_list(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let site = stage.site("Forum").await;
    let media = stage.judged(site, Judged::text("With an image")).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let list = create(&stage, &mut admin, "Known").await;
    let scans = format!("{list}/scans");
    let wrong = admin.post(&scans, "since_revision=-1").await;
    assert!(
        wrong.text.contains("since_revision-problem"),
        "{}",
        wrong.text
    );
    let started = admin.post(&scans, "since_revision=").await;
    let scan = started.leads_to().to_owned();
    let again = admin.post(&scans, "since_revision=").await;
    assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY);
    let page = admin.get(&scan).await.text;
    assert!(
        page.contains("0 % looked at") && page.contains("data-live"),
        "{page}"
    );

    // What the worker writes.
    let id: Uuid = scan.rsplit_once('/').unwrap().1.parse().unwrap();
    sqlx::query("update hash_scans set looked_at = 1, matched = 1 where id = $1")
        .bind(id)
        .execute(&pool)
        .await
        .unwrap();
    sqlx::query(
        "insert into hash_scan_matches (scan_id, media_id, entry_id, algorithm, distance) values ($1, $2, $3, 'pdq', 9)",
    )
    .bind(id)
    .bind(media.as_uuid())
    .bind(Uuid::now_v7())
    .execute(&pool)
    .await
    .unwrap();
    let page = admin.get(&scan).await.text;
    assert!(
        page.contains(&format!("/items/{media}")) && page.contains("differ\">9</td>"),
        "{page}"
    );
    assert!(page.contains(">approved<"), "{page}");
    let cancelled = admin.post(&format!("{scan}/cancel"), "").await;
    assert_eq!(cancelled.leads_to(), scan);
    assert!(!admin.get(&scan).await.text.contains("Cancel the scan"));
    assert_eq!(stage.recorded("hash_scan.create").await, ["Ada"]);
    assert_eq!(stage.recorded("hash_scan.cancel").await, ["Ada"]);
}

#[sqlx::test(migrations = false)]
async fn a_viewer_sees_lists_and_is_offered_no_change(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let list = create(&stage, &mut admin, "Known").await;
    admin
        .post(
            &format!("{list}/entries"),
            &format!("pdq={}", "ab".repeat(32)),
        )
        .await
        .leads_to();
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let lists = format!("/t/{}/hash-lists", stage.team);
    for path in [
        lists.clone(),
        list.clone(),
        format!("{list}/imports"),
        format!("{list}/scans"),
    ] {
        let page = viewer.get(&path).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        let main = page.text.split_once("<main").unwrap().1;
        assert!(
            !main.contains("method=\"post\"") && !main.contains("New hash list"),
            "{path}: {main}"
        );
    }
    for path in [format!("{lists}/new"), format!("{list}/settings")] {
        assert_eq!(
            viewer.get(&path).await.status,
            StatusCode::FORBIDDEN,
            "{path}"
        );
    }
    let entry = Uuid::now_v7();
    for (path, form) in [
        (
            format!("{lists}/new"),
            "name=Mine&kind=deny&max_distance=31",
        ),
        (
            format!("{list}/entries"),
            "pdq=abababababababababababababababababababababababababababababababab",
        ),
        (
            format!("{list}/images"),
            "media_id=01980f6d-05aa-7bbb-8ccc-0123456789ab",
        ),
        (format!("{list}/entries/{entry}/remove"), ""),
        (format!("{list}/imports"), "hashes=a&algorithm=pdq"),
        (format!("{list}/scans"), ""),
        (format!("{list}/settings"), "name=Mine&max_distance=1"),
        (format!("{list}/delete"), "typed=Known"),
        (format!("{list}/delete"), "typed=Unknown"),
    ] {
        let refused = viewer.post(&path, form).await;
        assert_eq!(
            refused.status,
            StatusCode::FORBIDDEN,
            "{path}: {}",
            refused.text
        );
    }
}

#[sqlx::test(migrations = false)]
async fn a_shared_list_can_be_scanned_and_shows_no_entries(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let new = NewHashList {
        name: "Shared".parse().unwrap(),
        description: None,
        kind: ListKind::Deny,
        max_distance: None,
        team: None,
    };
    let shared = hash_lists::create(&Caller::command_line(&stage.management), new).await;
    let list = format!("/t/{}/hash-lists/{}", stage.team, shared.unwrap().id);
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let page = admin.get(&list).await.text;
    assert!(
        page.contains("This list is shared") && !page.contains("/settings"),
        "{page}"
    );
    for path in [format!("{list}/imports"), format!("{list}/settings")] {
        assert_eq!(
            admin.get(&path).await.status,
            StatusCode::FORBIDDEN,
            "{path}"
        );
    }
    let refused = admin.post(&format!("{list}/delete"), "typed=Shared").await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let started = admin
        .post(&format!("{list}/scans"), "since_revision=")
        .await;
    assert_eq!(started.status, StatusCode::SEE_OTHER, "{}", started.text);
}

#[sqlx::test(migrations = false)]
async fn a_list_of_another_team_is_as_one_that_does_not_exist(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let list = create(&stage, &mut admin, "Known").await;
    let id = list.rsplit_once('/').unwrap().1.to_owned();
    let name = "Other".parse().unwrap();
    let caller = Caller::command_line(&stage.management);
    let other = management::teams::create(&caller, &name, None).await;
    let mut stage = stage;
    stage.team = other.unwrap().id;
    let mut foreign = stage.person("eve@other.example", Role::Admin).await;
    let missing = Uuid::now_v7().to_string();
    for page in ["", "/imports", "/scans", "/settings"] {
        let path = |id: &str| format!("/t/{}/hash-lists/{id}{page}", stage.team);
        let (there, none) = (
            foreign.get(&path(&id)).await,
            foreign.get(&path(&missing)).await,
        );
        assert_eq!(there.status, StatusCode::NOT_FOUND, "{page}");
        assert_eq!(
            (there.status, there.text),
            (none.status, none.text),
            "{page}"
        );
    }
    for (page, form) in [
        (
            "/entries",
            "pdq=abababababababababababababababababababababababababababababababab",
        ),
        ("/imports", "hashes=a&algorithm=pdq"),
        ("/scans", ""),
        ("/settings", "name=Mine&max_distance=1"),
        ("/delete", "typed=Known"),
    ] {
        let path = |id: &str| format!("/t/{}/hash-lists/{id}{page}", stage.team);
        let (there, none) = (
            foreign.post(&path(&id), form).await,
            foreign.post(&path(&missing), form).await,
        );
        assert_eq!(there.status, StatusCode::NOT_FOUND, "{page}");
        assert_eq!(
            (there.status, there.text),
            (none.status, none.text),
            "{page}"
        );
    }
    assert!(admin.get(&list).await.text.contains("Known"));
}

/// Creates a list, and returns its path.
async fn create(stage: &Stage, admin: &mut Browser, name: &str) -> String {
    let form = format!("name={name}&kind=deny&max_distance=31&description=");
    let created = admin
        .post(&format!("/t/{}/hash-lists/new", stage.team), &form)
        .await;
    created.leads_to().split('?').next().unwrap().to_owned()
}
