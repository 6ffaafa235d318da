//! What a rule group's version says of the categories that its rules ask for.

use std::borrow::Cow;

use sqlx::{
    PgPool,
    migrate::{Migration, Migrator},
};
use store::schema;

static MIGRATOR: Migrator = sqlx::migrate!("../../migrations");

#[sqlx::test(migrations = false)]
async fn versions_from_before_are_told_what_their_rules_ask_for(pool: PgPool) {
    let before: Vec<Migration> = MIGRATOR.iter().filter(|m| m.version < 7).cloned().collect();
    let before = Migrator {
        migrations: Cow::Owned(before),
        ..Migrator::DEFAULT
    };
    // A new database may have the schema already (`scripts/with-postgres --schema`).
    sqlx::raw_sql(
        "drop schema if exists queue, ops cascade; drop schema public cascade; create schema public",
    )
    .execute(&pool)
    .await
    .unwrap();
    queue::MIGRATOR.run(&pool).await.unwrap();
    before.run(&pool).await.unwrap();
    let rules = r#"[
        {"id": "x", "name": "a", "type": "ai_threshold", "category": "hate", "review_at": 0.5},
        {"id": "x", "name": "b", "enabled": true, "type": "ai_threshold", "category": "adult", "review_at": 0.5},
        {"id": "x", "name": "c", "enabled": true, "type": "ai_threshold", "category": "hate", "review_at": 0.9},
        {"id": "x", "name": "d", "enabled": false, "type": "ai_threshold", "category": "spam", "review_at": 0.5},
        {"id": "x", "name": "e", "enabled": true, "type": "keyword", "keywords": ["x"], "effect": "reject"}
    ]"#;
    sqlx::raw_sql(
        "
        begin;
        insert into teams (id, name) values (gen_random_uuid(), 'team');
        insert into rule_groups (id, team_id, name, live_version_id)
        select gen_random_uuid(), id, 'group', gen_random_uuid() from teams;
        insert into rule_group_versions (id, rule_group_id, number, rules, uses_ai)
        select live_version_id, id, 1, '[]', false from rule_groups;
        commit
        ",
    )
    .execute(&pool)
    .await
    .unwrap();
    sqlx::query(
        "
        insert into rule_group_versions (id, rule_group_id, number, rules, uses_ai)
        select gen_random_uuid(), id, 2, $1::json, true from rule_groups
        ",
    )
    .bind(rules)
    .execute(&pool)
    .await
    .unwrap();

    schema::migrate(&pool).await.unwrap();
    let categories: Vec<Vec<String>> =
        sqlx::query_scalar("select categories from rule_group_versions order by number")
            .fetch_all(&pool)
            .await
            .unwrap();
    assert_eq!(categories, [vec![], vec!["adult", "hate"]]);
}
