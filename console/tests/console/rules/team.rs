//! A team with somebody who writes rules.

use domain::role::Role;
use management::{
    Caller,
    people::{Standing, invitations},
};
use sqlx::PgPool;
use url::form_urlencoded::Serializer;

use crate::browser::{Browser, Stage, between};

/// A text that would run a script, or turn the writing direction, if it were not escaped.
pub(crate) fn hostile() -> String {
    "<script>alert(1)</script>\"'& \u{202e}x".to_owned()
}

/// The beginning of the same text as pages must show it.
pub(crate) fn escaped() -> String {
    "&#60;script&#62;alert(1)&#60;/script&#62;&#34;&#39;&#38;".to_owned()
}

/// Fields as a browser sends them.
pub(crate) fn form(fields: &[(&str, &str)]) -> String {
    let mut form = Serializer::new(String::new());
    form.extend_pairs(fields);
    form.finish()
}

pub(crate) struct Room {
    pub(crate) stage: Stage,
    pub(crate) admin: Browser,
    /// The path of the list of groups.
    pub(crate) rules: String,
    pub(crate) pool: PgPool,
}

/// Somebody of another team.
pub(crate) struct Stranger {
    pub(crate) browser: Browser,
    /// The path of the list of groups of that team.
    pub(crate) rules: String,
}

impl Room {
    pub(crate) async fn new(pool: PgPool) -> Self {
        let stage = Stage::new(pool.clone()).await;
        let admin = stage.person("admin@market.example", Role::Admin).await;
        let rules = format!("/t/{}/rules", stage.team);
        Self {
            stage,
            admin,
            rules,
            pool,
        }
    }

    /// Creates an empty group. Returns its path.
    pub(crate) async fn group(&mut self, name: &str) -> String {
        let sent = form(&[("name", name)]);
        let created = self.admin.post(&format!("{}/new", self.rules), &sent).await;
        created.leads_to().split('?').next().unwrap().to_owned()
    }

    /// The revision of the group's draft, as a form has it.
    pub(crate) async fn revision(&mut self, group: &str) -> String {
        let page = self.admin.get(&format!("{group}/rules/new")).await.text;
        between(&page, "name=\"revision\" value=\"", "\"").to_owned()
    }

    /// Adds a rule of one word.
    pub(crate) async fn word(&mut self, group: &str, name: &str, word: &str) {
        let revision = self.revision(group).await;
        let sent = form(&[
            ("revision", &revision),
            ("type", "keyword"),
            ("name", name),
            ("keywords", word),
            ("matching", "whole_word"),
            ("effect", "reject"),
            ("enabled", "yes"),
        ]);
        let added = self.admin.post(&format!("{group}/rules/new"), &sent).await;
        assert!(added.leads_to().ends_with("?done=rule-saved"));
    }

    /// Publishes the draft.
    pub(crate) async fn publish(&mut self, group: &str) {
        let revision = self.revision(group).await;
        let sent = form(&[("revision", &revision), ("note", "")]);
        let published = self.admin.post(&format!("{group}/publish"), &sent).await;
        assert!(published.leads_to().ends_with("?done=published"));
    }

    /// The path of the form of the rule at this place, from 0.
    pub(crate) async fn rule(&mut self, group: &str, place: usize) -> String {
        let page = self.admin.get(group).await.text;
        let before = format!("<a href=\"{group}/rules/");
        let id = page
            .split(&before)
            .filter(|part| !part.starts_with("new"))
            .nth(place + 1);
        let id = id.unwrap().split('"').next().unwrap();
        format!("{group}/rules/{id}")
    }

    /// Somebody with this role in a team of their own.
    pub(crate) async fn stranger(&self, email: &str) -> Stranger {
        let caller = Caller::command_line(&self.stage.management);
        let name = "Elsewhere".parse().unwrap();
        let team = management::teams::create(&caller, &name, None);
        let team = team.await.unwrap().id;
        let wanted = invitations::Wanted {
            team: Some(team),
            email: email.parse().unwrap(),
            standing: Standing {
                role: Role::Owner,
                sites: None,
            },
        };
        let issued = invitations::create(&caller, &wanted).await;
        let link = format!("/links/{}", issued.unwrap().secret.expose());
        Stranger {
            browser: self.stage.join(&link).await,
            rules: format!("/t/{team}/rules"),
        }
    }

    /// How many entries of the audit log say that a person did this.
    pub(crate) async fn audited(&self, action: &str) -> i64 {
        let found = sqlx::query_scalar(
            "select count(*) from audit_log where action = $1 and actor = 'member' and team_id = $2",
        );
        found
            .bind(action)
            .bind(self.stage.team.as_uuid())
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }
}

/// What a page says about a field.
pub(crate) fn problem(page: &str, field: &str) -> String {
    let before = format!("id=\"{field}-problem\">");
    assert!(page.contains(&before), "nothing about {field}: {page}");
    let text = between(page, &before, "</p>");
    text.replace("&#62;", ">").replace("&#60;", "<")
}
