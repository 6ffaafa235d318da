//! How many items the rules of a group matched.

use sqlx::PgPool;
use uuid::Uuid;

use super::team::{Room, form};
use crate::browser::between;

const FILE: &str = "name: Words\nrules:\n\
    - {name: First, type: keyword, keywords: [a], effect: reject}\n\
    - {name: Second, type: regex, pattern: b, effect: reject}\n";

/// Stores how often a rule matched in the team on a day.
async fn matched(room: &Room, days_ago: i32, group: Uuid, rule: Uuid, matches: i64) {
    sqlx::query(
        "insert into statistics_rules
        values ($1, (now() at time zone 'UTC')::date - $2, $3, $4, nullif('name', $5), $6)",
    )
    .bind(room.stage.team.as_uuid())
    .bind(days_ago)
    .bind(group)
    .bind(rule)
    .bind(if rule.is_nil() { "name" } else { "" })
    .bind(matches)
    .execute(&room.pool)
    .await
    .unwrap();
}

/// The cells of the column, from the top.
fn hits(page: &str) -> Vec<String> {
    let cells = page.split("data-label=\"Items in 7 days\">").skip(1);
    cells
        .map(|cell| cell.split("</td>").next().unwrap().to_owned())
        .collect()
}

const NOT_COUNTED: &str =
    "<span class=\"quiet\">–<span class=\"hidden\"> not counted</span></span>";

#[sqlx::test(migrations = false)]
async fn each_rule_shows_its_hits_of_seven_days_or_that_they_are_not_known(pool: PgPool) {
    let mut room = Room::new(pool).await;
    sqlx::query("delete from statistics_backfill")
        .execute(&room.pool)
        .await
        .unwrap();
    let new = format!("{}/new", room.rules);
    let sent = form(&[("from_file", "yes"), ("yaml", FILE)]);
    let created = room.admin.post(&new, &sent).await;
    let path = created.leads_to().split('?').next().unwrap().to_owned();
    let group: Uuid = path.rsplit_once('/').unwrap().1.parse().unwrap();
    let page = room.admin.get(&path).await.text;
    assert_eq!(hits(&page), ["0", "0"]);
    let first: Uuid = between(&page, &format!("<a href=\"{path}/rules/"), "\"")
        .parse()
        .unwrap_or_else(|_| {
            let (_, rows) = page.split_once("<tbody>").unwrap();
            between(rows, "/rules/", "\"")
                .rsplit('/')
                .next()
                .unwrap()
                .parse()
                .unwrap()
        });

    matched(&room, 0, group, first, 1_200).await;
    matched(&room, 6, group, first, 34).await;
    matched(&room, 7, group, first, 5_000).await;
    // Another group's, and another rule's.
    matched(&room, 0, Uuid::now_v7(), Uuid::now_v7(), 7).await;
    let page = room.admin.get(&path).await.text;
    assert_eq!(hits(&page), ["1,234", "0"]);
    assert!(!page.contains("first 200 rules"), "{page}");

    // A day on which some matches are not counted by rule.
    matched(&room, 2, Uuid::nil(), Uuid::nil(), 1).await;
    let page = room.admin.get(&path).await.text;
    assert_eq!(hits(&page), ["at least 1,234", NOT_COUNTED]);
    assert!(page.contains("first 200 rules"), "{page}");

    // A rule that only the draft has judges nothing.
    sqlx::query("delete from statistics_rules where rule_id = $1")
        .bind(Uuid::nil())
        .execute(&room.pool)
        .await
        .unwrap();
    let yaml = format!("{FILE}- {{name: Third, type: keyword, keywords: [c], effect: reject}}\n");
    let revision = between(&page, "name=\"revision\" value=\"", "\"").to_owned();
    let sent = form(&[("revision", &revision), ("yaml", &yaml)]);
    let imported = room.admin.post(&format!("{path}/import"), &sent).await;
    let page = room.admin.get(imported.leads_to()).await.text;
    assert!(
        hits(&page).contains(&NOT_COUNTED.to_owned()),
        "{:?}",
        hits(&page)
    );
}
