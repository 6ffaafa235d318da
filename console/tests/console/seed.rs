//! Sites, and items as workers leave them.

use domain::{
    decision::{Findings, Part, Unchecked, decide},
    id::{MediaId, SiteId},
    media::{OnFailure, Status},
    rules::{Evidence, RuleEffect, RuleType, View, Violation},
    score::Scores,
};
use management::{
    Caller,
    provisioning::{self, NewSite},
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::browser::Stage;

/// An item that a worker has judged.
pub(crate) struct Judged<'a> {
    pub(crate) body: &'a str,
    pub(crate) app_media_id: Option<&'a str>,
    pub(crate) metadata: Option<Value>,
    pub(crate) violations: Vec<Violation>,
    pub(crate) unchecked: Vec<Unchecked>,
    pub(crate) on_failure: OnFailure,
    pub(crate) scores: Option<Scores>,
}

impl<'a> Judged<'a> {
    /// A text without anything against it.
    pub(crate) fn text(body: &'a str) -> Self {
        Self {
            body,
            app_media_id: None,
            metadata: None,
            violations: Vec::new(),
            unchecked: Vec::new(),
            on_failure: OnFailure::Review,
            scores: None,
        }
    }
}

/// A keyword of a rule, at this place of the text.
pub(crate) fn keyword(name: &str, effect: RuleEffect, span: std::ops::Range<usize>) -> Violation {
    Violation {
        rule_id: Uuid::now_v7().into(),
        rule_name: name.to_owned(),
        rule_type: RuleType::Keyword,
        effect,
        confidence: 1.0,
        details: "The text contains a keyword of this rule.".to_owned(),
        matched_text: None,
        evidence: Evidence::Text {
            group: Uuid::now_v7().into(),
            view: View::Loose,
            span,
        },
    }
}

impl Stage {
    /// A site with a rule group of its own.
    pub(crate) async fn site(&self, name: &str) -> SiteId {
        let new = NewSite {
            name: name.parse().unwrap(),
            group: name.parse().unwrap(),
            rules: domain::rules::InputRules::default(),
        };
        let caller = Caller::command_line(&self.management);
        let created = provisioning::site(&caller, self.team, new).await;
        created.unwrap().0.site.id
    }

    /// An item that is not judged yet.
    pub(crate) async fn pending(&self, site: SiteId, body: &str) -> MediaId {
        self.insert(site, &Judged::text(body)).await
    }

    /// An item with the machine's verdict.
    pub(crate) async fn judged(&self, site: SiteId, new: Judged<'_>) -> MediaId {
        let media = self.insert(site, &new).await;
        let verdict = decide(Findings {
            groups: Vec::new(),
            violations: new.violations,
            scores: new.scores,
            wanted: &[],
            gaps: &[],
            text: Part::Examined,
            image: Part::Absent,
            unchecked: new.unchecked,
            on_failure: new.on_failure,
        });
        sqlx::query(
            "insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace)
            values ($1, 1, $2, 'pending', $3, $4, $5)",
        )
        .bind(media.as_uuid())
        .bind(verdict.status.as_str())
        .bind(verdict.moderation_type.as_str())
        .bind(json!(verdict.details(Some(12))))
        .bind(json!(verdict.trace))
        .execute(&self.management.pool)
        .await
        .unwrap();
        self.set_status(media, verdict.status, 1).await;
        if verdict.status == Status::PendingReview {
            sqlx::query("insert into reviews (media_id, team_id, site_id) values ($1, $2, $3)")
                .bind(media.as_uuid())
                .bind(self.team.as_uuid())
                .bind(site.as_uuid())
                .execute(&self.management.pool)
                .await
                .unwrap();
        }
        media
    }

    /// The hashes of an item's image, whose file is not kept.
    pub(crate) async fn image(&self, media: MediaId, hash: [u8; 32]) {
        sqlx::query("update media set content_type = 'image' where id = $1")
            .bind(media.as_uuid())
            .execute(&self.management.pool)
            .await
            .unwrap();
        sqlx::query(
            "insert into media_images (media_id, format, width, height, sha256, pdq, pdq_quality)
            values ($1, 'png', 640, 480, $2, $2, 90)",
        )
        .bind(media.as_uuid())
        .bind(hash.to_vec())
        .execute(&self.management.pool)
        .await
        .unwrap();
    }

    async fn insert(&self, site: SiteId, new: &Judged<'_>) -> MediaId {
        let media = MediaId::from(Uuid::now_v7());
        sqlx::query(
            "insert into media (id, team_id, site_id, content_type, app_media_id, body, metadata, group_versions)
            values ($1, $2, $3, 'text', $4, $5, $6, '{}')",
        )
        .bind(media.as_uuid())
        .bind(self.team.as_uuid())
        .bind(site.as_uuid())
        .bind(new.app_media_id)
        .bind(new.body)
        .bind(new.metadata.as_ref())
        .execute(&self.management.pool)
        .await
        .unwrap();
        media
    }

    async fn set_status(&self, media: MediaId, status: Status, verdict: i16) {
        sqlx::query("update media set status = $2, verdict = $3 where id = $1")
            .bind(media.as_uuid())
            .bind(status.as_str())
            .bind(verdict)
            .execute(&self.management.pool)
            .await
            .unwrap();
    }

    /// The names of the people in the audit log who did this, the first one first.
    pub(crate) async fn recorded(&self, action: &str) -> Vec<String> {
        sqlx::query_scalar(
            "select u.name from audit_log a
            join memberships m on m.id = a.actor_id
            join users u on u.id = m.user_id
            where a.action = $1 and a.request_id is not null
            order by a.id",
        )
        .bind(action)
        .fetch_all(&self.management.pool)
        .await
        .unwrap()
    }
}

/// What a page must show of the text of a stranger: none of it is markup, and nothing turns the direction.
pub(crate) const HOSTILE: &str = "<script>alert(1)</script>\"'&\u{202e}cba\u{200b}";

/// Whether a page shows it so.
pub(crate) fn is_harmless(page: &str) -> bool {
    page.contains("&#60;script&#62;alert(1)&#60;/script&#62;&#34;&#39;&#38;")
        && !page.contains("<script>alert")
        && !page.contains('\u{202e}')
}
