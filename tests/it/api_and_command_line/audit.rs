//! The same change leaves the same entries in the audit log, whether a command or a request makes
//! it.

mod pairs;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use self::pairs::Pair;
use super::Faces;
use crate::support::{admin, run, text};

type Entries = Vec<(String, Value)>;

impl Faces {
    /// Makes a change through both faces, and returns the entries of each.
    async fn record_both(&self, pair: &Pair) -> (Entries, Entries) {
        self.take_back(pair).await;
        let before = self.entries().await;
        let (status, made) = self.ask(pair.method.clone(), &pair.path, &pair.body).await;
        assert!((200..300).contains(&status), "{}: {made}", pair.what);
        let by_interface = self.recorded(before).await;

        self.take_back(pair).await;
        let before = self.entries().await;
        let arguments: Vec<&str> = pair.command.split(' ').collect();
        admin(&self.pool, &arguments);
        let mut by_command = self.recorded(before).await;
        if pair.what == "a site" {
            // The command makes the site's default group, too.
            let group = by_command.remove(0);
            assert_eq!(group.0, "rule_group.create", "{group:?}");
        }
        (by_interface, by_command)
    }

    async fn take_back(&self, pair: &Pair) {
        if let Some(statement) = pair.undo() {
            sqlx::query(statement).execute(&self.pool).await.unwrap();
        }
    }
}

#[sqlx::test(migrations = false)]
async fn both_faces_record_the_same_in_the_audit_log(pool: PgPool) {
    run(&pool, &["migrate"]);
    let faces = Faces::open(&pool).await;
    let plan = text(&admin(&pool, &["create-plan", "--name", "p"]), "plan_id");
    let team = text(&admin(&pool, &["create-team", "--name", "t"]), "team_id");
    let site = admin(&pool, &["create-site", "--team", &team, "--name", "s"]);
    let (site, group) = (text(&site, "site_id"), text(&site, "rule_group_id"));
    let file = tempfile::NamedTempFile::new().unwrap();
    let rule = json!({ "name": "n", "type": "keyword", "keywords": ["w"], "effect": "reject" });
    let rules = json!({ "name": "Words", "rules": [rule] });
    std::fs::write(file.path(), rules.to_string()).unwrap();
    let path = file.path().to_str().unwrap();

    let draft = format!("/rule-groups/{group}/draft");
    let (_, draft_then) = faces.ask(Method::GET, &draft, &Value::Null).await;
    let change = json!({ "rules": [rule], "revision": draft_then["revision"] });
    let (status, draft_now) = faces.ask(Method::PUT, &draft, &change).await;
    assert_eq!(status, 200, "{draft_now}");

    let pairs = pairs::about_teams(&plan, &team).into_iter();
    let pairs = pairs.chain(pairs::about_sites(&team, &site, &group));
    let pairs = pairs.chain(pairs::about_rules(&team, &group, &rule, &draft_now, path));
    let mut differ = Vec::new();
    for pair in pairs {
        let (by_interface, by_command) = faces.record_both(&pair).await;
        if by_interface != by_command {
            differ.push((pair.what, by_interface, by_command));
        }
    }
    assert!(differ.is_empty(), "{differ:#?}");

    let before = faces.entries().await;
    let again = ["subscribe", "--team", &team, "--plan", &plan];
    admin(&pool, &[&again[..], &["--state", "past_due"]].concat());
    assert_eq!(faces.entries().await, before, "nothing was changed");
}
