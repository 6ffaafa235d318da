//! The end of a closure: what it waits for, and what is left.

use super::*;

#[sqlx::test(migrations = false)]
async fn nothing_is_left_of_a_closed_site_and_everything_of_the_other(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let other = team.create_site("other").await;
    for site in [team.site, other] {
        furnish(&team, site).await;
    }
    let item = team
        .full_item(team.site, "anna", Some(Status::Approved))
        .await;
    team.item_of(other, chrono::Utc::now(), None).await;
    let untouched = team.all_of_site(other).await;
    let before = team.rows_of_site(team.site).await;

    let id = team.close(Some(team.site), NONE).await;
    let ended = team.run_closure(id).await;
    let erasure = team.erasure(ended.sites[0].erasure.unwrap()).await;
    assert_eq!((erasure.site, erasure.counts.items), (Some(team.site), 1));
    assert!(erasure.certificate.is_some());
    assert_eq!(team.all_of_site(other).await, untouched);

    let left: Vec<(String, i64)> = team
        .rows_of_site(team.site)
        .await
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .collect();
    let left: Vec<&str> = left.iter().map(|(table, _)| table.as_str()).collect();
    // A new table with things of sites is to be emptied, too, or to have nothing personal or secret.
    assert_eq!(
        left,
        [
            "closure_sites",
            "closures",
            "erasures",
            // A tombstone.
            "media",
            // Reports count opinions.
            "review_opinions",
        ]
    );
    let filled = before.iter().filter(|(_, count)| **count > 0);
    let filled: Vec<&str> = filled.map(|(table, _)| table.as_str()).collect();
    for table in [
        "desk_settings",
        "events",
        "legal_holds",
        "site_keys",
        "site_rule_groups",
        "webhook_endpoints",
        "webhook_recoveries",
    ] {
        assert!(filled.contains(&table), "{table}: {filled:?}");
    }
    let row = team.all_of_site(team.site).await.0;
    assert!(!row.contains("secret"), "{row}");
    assert!(row.contains(&format!("closed {}", team.site)), "{row}");
    let states = "select count(*) from webhook_endpoint_states s
                  where not exists (select from webhook_endpoints e where e.id = s.endpoint_id)";
    assert_eq!(team.count(states).await, 0);
    // The master key opens what took the place of its secret.
    let mut conn = pool.acquire().await.unwrap();
    let secrets = webhook_secret::signing(&mut conn, &master_key(), team.site).await;
    assert!(secrets.unwrap().is_some());
    assert_eq!(
        key_rotation::left(&mut conn, &master_key()).await.unwrap(),
        0
    );
    let status: String = sqlx::query_scalar("select status from media where id = $1")
        .bind(item.as_uuid())
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(status, "approved");
    let recorded = "select count(*) from audit_log where action = 'closure.finish'";
    assert_eq!(team.count(recorded).await, 1);
}

#[sqlx::test(migrations = false)]
async fn of_a_closed_team_only_the_owners_are_left(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let other = Tenant::another(&pool, "other").await;
    for tenant in [&team, &other] {
        let statements = format!(
            r"
            insert into users (id, email, name, password_hash)
            select gen_random_uuid(), role || '@{team}.example', role, '' from unnest(array['owner', 'admin', 'viewer']) role;
            insert into memberships (id, user_id, team_id, role)
            select gen_random_uuid(), id, '{team}', name from users where email like '%@{team}.example';
            insert into links (id, kind, hash, team_id, email, role, creator, expires_at)
            values (gen_random_uuid(), 'invitation', sha256('{team}'), '{team}', 'a@example.com', 'viewer', 'command_line', now());
            ",
            team = tenant.team,
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(statements))
            .execute(&pool)
            .await
            .unwrap();
    }
    let left = async |tenant: &Tenant| -> (i64, Vec<String>, i64, String) {
        sqlx::query_as(
            "select
                 (select count(*) from management_tokens where team_id = $1 and disabled_at is null),
                 array(select role from memberships where team_id = $1 and disabled_at is null order by role),
                 (select count(*) from links where team_id = $1),
                 (select state from subscriptions where team_id = $1)",
        )
        .bind(tenant.team.as_uuid())
        .fetch_one(&pool)
        .await
        .unwrap()
    };
    let before = left(&other).await;
    assert_eq!(left(&team).await, before);
    let id = team.close(None, NONE).await;
    assert!(team.step(id).await);
    assert_eq!(left(&team).await, before, "until everything is erased");
    team.run_closure(id).await;
    let owners = vec!["owner".to_owned()];
    assert_eq!(left(&team).await, (0, owners, 0, "cancelled".into()));
    assert_eq!(left(&other).await, before);
    assert_eq!(other.closing().await, []);
}

#[sqlx::test(migrations = false)]
async fn a_closure_waits_for_its_failed_erasure_and_for_room_for_it(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let id = team.close(Some(team.site), NONE).await;
    assert!(team.step(id).await);
    team.execute(
        "insert into erasures (id, team_id, kind, salt, subject_sha256)
         select gen_random_uuid(), id, 'author', '', sha256('') from teams, generate_series(1, 100)",
    )
    .await;
    assert!(team.step(id).await);
    let waiting = team.closure(id).await;
    assert_eq!(waiting.waits_for, Some(WaitsFor::OtherErasures));
    team.execute("delete from erasures").await;
    assert!(team.step(id).await);
    let erasing = team.closure(id).await;
    assert_eq!(erasing.waits_for, None);
    let erasure = erasing.sites[0].erasure.unwrap();

    team.execute("update erasures set state = 'failed', ended_at = now()")
        .await;
    assert!(team.step(id).await);
    let waiting = team.closure(id).await;
    assert_eq!(waiting.waits_for, Some(WaitsFor::FailedErasure));
    let mut conn = pool.acquire().await.unwrap();
    let resumed = store::erasure::resume(&mut conn, erasure).await.unwrap();
    assert!(resumed.is_some());
    team.run_closure(id).await;
}

#[sqlx::test(migrations = false)]
async fn a_closure_that_failed_goes_on_where_it_was(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let id = team.close(Some(team.site), NONE).await;
    assert!(team.step(id).await);
    team.execute("update closures set state = 'failed', ended_at = now(), error = 'exhausted'")
        .await;
    assert_eq!(team.closure(id).await.state, ClosureState::Failed);
    assert!(matches!(team.next(id).await, Next::Nothing));
    let mut conn = pool.acquire().await.unwrap();
    assert!(closure::resume(&mut conn, id).await.unwrap().is_some());
    assert!(closure::resume(&mut conn, id).await.unwrap().is_none());
    team.run_closure(id).await;
}
