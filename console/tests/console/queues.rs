//! Queues, their groups and their lanes, for operators.

use domain::role::Role;
use management::{
    Caller,
    people::{Standing, invitations},
};
use poem::http::StatusCode;
use queue::{Group, Lane, NewJob, NewJobs};
use serde_json::json;
use sqlx::PgPool;
use store::jobs::WEBHOOKS;
use uuid::Uuid;

use crate::{
    browser::{Browser, PASSWORD, Stage},
    sites::{ESCAPED, HOSTILE, audited, form},
};

const QUEUE: &str = "/instance/queues/webhooks";

/// A browser in which an operator is signed in.
pub(crate) async fn operator(stage: &Stage) -> Browser {
    let wanted = invitations::Wanted {
        team: None,
        email: "operator@market.example".parse().unwrap(),
        standing: Standing {
            role: Role::Operator,
            sites: None,
        },
    };
    let issued = invitations::create(&Caller::command_line(&stage.management), &wanted).await;
    let link = format!("/links/{}", issued.unwrap().secret.expose());
    let mut browser = stage.browser();
    let answer = browser
        .post(&link, &form(&[("name", "Olga"), ("password", PASSWORD)]))
        .await;
    assert_eq!(answer.leads_to(), "/account/factor");
    browser.set_up_factor().await;
    browser
}

/// What a person who does not run the instance is told: the same as of a page that does not exist.
pub(crate) async fn assert_hidden(stage: &Stage, gets: &[&str], posts: &[&str]) {
    let mut owner = stage.person("owner@market.example", Role::Owner).await;
    let missing = owner.get("/instance/nothing").await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    for path in gets {
        let answer = owner.get(path).await;
        assert_eq!(answer.status, missing.status, "{path}");
        assert_eq!(answer.text, missing.text, "{path}");
    }
    for path in posts {
        let answer = owner.post(path, "cap=1&minutes=5&what=all").await;
        assert_eq!(answer.status, missing.status, "{path}");
        assert_eq!(answer.text, missing.text, "{path}");
    }
    let mut stranger = stage.browser();
    for path in gets {
        assert_eq!(stranger.get(path).await.leads_to(), "/sign-in", "{path}");
    }
}

fn job(lane: Uuid) -> NewJob {
    NewJob::new(WEBHOOKS, Lane(lane), &json!({ "delivery": Uuid::now_v7() }))
}

async fn enqueue(pool: &PgPool, jobs: impl IntoIterator<Item = NewJob>) {
    let jobs: NewJobs = jobs.into_iter().collect();
    let mut conn = pool.acquire().await.unwrap();
    queue::enqueue(&mut conn, &jobs).await.unwrap();
}

/// Whether a lane or a group is paused, whether for ever, and its cap.
async fn held(pool: &PgPool, table: &str) -> Vec<(bool, bool, Option<i32>)> {
    let query = format!(
        "select coalesce(paused_until > now(), false), coalesce(paused_until = 'infinity', false), cap from queue.{table}"
    );
    let rows = sqlx::query_as(sqlx::AssertSqlSafe(query));
    rows.fetch_all(pool).await.unwrap()
}

#[sqlx::test(migrations = false)]
async fn queues_are_shown_with_their_depth_and_what_holds_them_back(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let mut operator = operator(&stage).await;
    let team = stage.team.as_uuid();
    sqlx::query("update teams set name = $1")
        .bind(HOSTILE)
        .execute(&pool)
        .await
        .unwrap();
    let endpoint = Uuid::now_v7();
    enqueue(&pool, (0..3).map(|_| job(endpoint).group(Group(team)))).await;
    sqlx::query(
        "insert into queue.workers (id, started_at, expires_at, host, pid, role, metrics_address, version)
         values ($1, now() - interval '2 hours', now() + interval '10 minutes', $2, 4711, 'worker', '10.1.0.7:9464', '0.1.0')",
    )
    .bind(Uuid::from_u128(7))
    .bind(format!("web-1{HOSTILE}"))
    .execute(&pool)
    .await
    .unwrap();
    let list = operator.get("/instance/queues").await;
    assert_eq!(list.status, StatusCode::OK, "{}", list.text);
    for told in [
        "data-live",
        "<td class=\"num\" data-label=\"Due\">3</td>",
        "Live workers (",
        "00000000-0000-0000-0000-000000000007",
        "worker on web-1",
        "pid 4711, metrics at 10.1.0.7:9464, version 0.1.0",
        "2 h ago",
        "aria-current=\"page\"",
        "Sends events to the endpoints of teams.",
    ] {
        assert!(list.text.contains(told), "{told}: {}", list.text);
    }
    assert!(!list.text.contains("<script>alert"), "{}", list.text);

    let shown = operator.get(QUEUE).await.text;
    assert!(shown.contains(ESCAPED), "{shown}");
    assert!(!shown.contains("<script>alert"), "{shown}");
    for told in [
        format!("{QUEUE}/groups/{team}"),
        format!("{QUEUE}/lanes/{endpoint}"),
        "Pause the queue".to_owned(),
        "A lane is an endpoint of a team.".to_owned(),
    ] {
        assert!(shown.contains(&told), "{told}: {shown}");
    }
    let group = operator.get(&format!("{QUEUE}/groups/{team}")).await.text;
    assert!(
        group.contains(ESCAPED) && !group.contains("<script>alert"),
        "{group}"
    );
    assert!(group.contains("<dt>Due</dt><dd>3</dd>"), "{group}");

    let path = format!("{QUEUE}/find?part=lane&id={endpoint}");
    let found = operator.get(&path).await;
    assert_eq!(found.leads_to(), format!("{QUEUE}/lanes/{endpoint}"));
    let wrong = operator.get(&format!("{QUEUE}/find?part=lane&id=x")).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.text.contains("id=\"id-problem\""), "{}", wrong.text);
    for missing in [
        "/instance/queues/nothing".to_owned(),
        "/instance/queues/nothing/find?id=x".to_owned(),
        format!("/instance/queues/nothing/lanes/{endpoint}"),
        format!("{QUEUE}/lanes/x"),
    ] {
        let answer = operator.get(&missing).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{missing}");
    }
}

#[sqlx::test(migrations = false)]
async fn a_queue_a_group_and_a_lane_are_paused_and_resumed(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let mut operator = operator(&stage).await;
    let (group, lane) = (stage.team.as_uuid(), Uuid::now_v7());
    let places = [
        QUEUE.to_owned(),
        format!("{QUEUE}/groups/{group}"),
        format!("{QUEUE}/lanes/{lane}"),
    ];
    for place in &places {
        let refused = operator
            .post(&format!("{place}/pause"), "minutes=soon")
            .await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(
            refused.text.contains("id=\"minutes-problem\"")
                && refused.text.contains("value=\"soon\""),
            "{}",
            refused.text
        );
        let paused = operator.post(&format!("{place}/pause"), "minutes=30").await;
        assert_eq!(paused.leads_to(), format!("{place}?done=jobs-paused"));
        let shown = operator.get(place).await.text;
        assert!(shown.contains("It is paused until 2"), "{shown}");
    }
    assert_eq!(audited(&pool, "queue.update").await.len(), 3);
    assert_eq!(held(&pool, "groups").await, [(true, false, None)]);
    let list = operator.get("/instance/queues").await.text;
    for told in ["1 group paused", "1 lane paused", ">paused</span>"] {
        assert!(list.contains(told), "{told}: {list}");
    }
    for place in &places {
        let resumed = operator.post(&format!("{place}/resume"), "").await;
        assert_eq!(resumed.leads_to(), format!("{place}?done=jobs-resumed"));
        let shown = operator.get(place).await.text;
        assert!(!shown.contains("It is paused"), "{shown}");
    }
    let audit = audited(&pool, "queue.update").await;
    assert_eq!(audit, vec!["operator@market.example"; 6]);

    let lane = &places[2];
    operator
        .post(&format!("{lane}/pause"), "minutes=")
        .await
        .leads_to();
    assert_eq!(held(&pool, "lanes").await, [(true, true, None)]);
    let shown = operator.get(lane).await.text;
    assert!(shown.contains("until somebody resumes it"), "{shown}");
    // An id that is none is not taken for the whole queue.
    let wrong = operator.post(&format!("{QUEUE}/groups/x/pause"), "").await;
    assert_eq!(wrong.status, StatusCode::NOT_FOUND);
    let unknown = operator.post("/instance/queues/nothing/pause", "").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    assert_eq!(audited(&pool, "queue.update").await.len(), 7);
}

#[sqlx::test(migrations = false)]
async fn a_group_and_a_lane_are_capped(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let mut operator = operator(&stage).await;
    let id = stage.team.as_uuid();
    for (table, place) in [
        ("groups", format!("{QUEUE}/groups/{id}")),
        ("lanes", format!("{QUEUE}/lanes/{id}")),
    ] {
        for wrong in ["", "0", "-3", "many", "2147483648", HOSTILE] {
            let refused = operator
                .post(&format!("{place}/cap"), &form(&[("cap", wrong)]))
                .await;
            assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong}");
            assert!(refused.text.contains("id=\"cap-problem\""), "{wrong}");
            assert!(!refused.text.contains("<script>alert"), "{}", refused.text);
        }
        assert_eq!(held(&pool, table).await, []);
        let capped = operator.post(&format!("{place}/cap"), "cap=7").await;
        assert_eq!(capped.leads_to(), format!("{place}?done=jobs-capped"));
        assert_eq!(held(&pool, table).await, [(false, false, Some(7))]);
        let shown = operator.get(&place).await.text;
        assert!(shown.contains("<dt>Cap</dt><dd>7</dd>"), "{shown}");
        operator
            .post(&format!("{place}/uncap"), "")
            .await
            .leads_to();
        assert_eq!(held(&pool, table).await, [(false, false, None)]);
    }
    let audit = audited(&pool, "queue.update").await;
    assert_eq!(audit, vec!["operator@market.example"; 4]);
}

#[sqlx::test(migrations = false)]
async fn who_does_not_run_the_instance_finds_no_queues(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let id = stage.team;
    let (group, lane) = (
        format!("{QUEUE}/groups/{id}"),
        format!("{QUEUE}/lanes/{id}"),
    );
    let find = format!("{QUEUE}/find?id={id}");
    let gets = [
        "/instance/queues",
        QUEUE,
        "/instance/queues/nothing",
        &group,
        &lane,
        &find,
    ];
    let posts: Vec<String> = [QUEUE, &group, &lane]
        .into_iter()
        .flat_map(|place| ["pause", "resume", "cap", "uncap"].map(|verb| format!("{place}/{verb}")))
        .filter(|path| {
            !path.starts_with(&format!("{QUEUE}/cap"))
                && !path.starts_with(&format!("{QUEUE}/uncap"))
        })
        .collect();
    let posts: Vec<&str> = posts.iter().map(String::as_str).collect();
    assert_hidden(&stage, &gets, &posts).await;
    for table in ["groups", "lanes"] {
        assert_eq!(held(&pool, table).await, [], "{table}");
    }
    let paused: i64 = sqlx::query_scalar("select count(*) from queue.queues")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(paused, 0);
}
