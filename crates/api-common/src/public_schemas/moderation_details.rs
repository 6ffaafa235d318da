//! `moderation_details` as the document describes it. The service stores it as raw JSON, written by
//! `domain::decision`. A test compares the two.

#![expect(
    dead_code,
    reason = "`domain` writes these objects, and here they are only described"
)]

use std::collections::HashMap;

use uuid::Uuid;

use crate::Schema;

/// The reasons for a verdict.
#[derive(Schema)]
pub struct ModerationDetails {
    /// The rules that the item violates, if any.
    rule_violations: Vec<RuleViolation>,
    /// Scores from 0 to 1 by category: `adult`, `violence`, `hate`, `self_harm`, `harassment`, `sexual_minors`,
    /// `illicit`, `spam`. Absent if no analysis ran. A category that could not be scored is absent. Categories may
    /// be added.
    ai_analysis: Option<HashMap<String, f64>>,
    /// Time from acceptance to verdict, in milliseconds.
    processing_time_ms: Option<u64>,
    /// Why a moderator must look at the item, or what could not be checked. Always present with `pending_review`.
    reason: Option<String>,
    /// With `pending_review`: the categories whose scores reach their review threshold.
    flagged_categories: Option<Vec<String>>,
    /// What was not checked, whatever the status. Absent if everything was. Values: `provider_failed`,
    /// `categories_not_scored`, `text_not_scored`, `text_not_examined`, `image_not_analysed`, `image_not_scored`,
    /// `image_not_examined`, `rules_too_heavy`. Values may be added. `reason` says the same in words.
    unchecked: Option<Vec<String>>,
}

/// A rule that a media item violates.
#[derive(Schema)]
struct RuleViolation {
    /// The rule's id.
    rule_id: Uuid,
    /// The rule's name.
    rule_name: String,
    /// The rule's kind: `ai_threshold`, `keyword`, `regex`, `link`, `image_hash`. Kinds may be added.
    rule_type: String,
    /// The score for `ai_threshold`, and 1 for other kinds.
    #[schema(minimum = 0.0, maximum = 1.0)]
    confidence: f64,
    /// An explanation.
    details: String,
    /// For rules on text: the text that matched, masked.
    matched_text: Option<String>,
}
