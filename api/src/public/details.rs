//! `moderation_details` as the document describes it. The service itself stores it as raw JSON, written by
//! `domain::decision`; a test holds the two together.

use std::collections::HashMap;

use poem_openapi::Object;
use uuid::Uuid;

/// Why a media item was decided as it was.
#[derive(Object)]
pub(crate) struct ModerationDetails {
    /// The rules that it violates, if any.
    rule_violations: Vec<RuleViolation>,
    /// Scores from 0 to 1 by category: `adult`, `violence`, `hate`, `self_harm`, `harassment`, `sexual_minors`, `illicit`,
    /// `spam`. Left out when no analysis ran; a category that nothing could score is absent. More may be added.
    ai_analysis: Option<HashMap<String, f64>>,
    /// From acceptance to verdict, in milliseconds.
    processing_time_ms: Option<u64>,
    /// Why a moderator must look at it, or what could not be checked. Always there with `pending_review`.
    reason: Option<String>,
    /// With `pending_review`: the categories at or over their review threshold.
    flagged_categories: Option<Vec<String>>,
}

/// A rule that a media item violates.
#[derive(Object)]
pub(crate) struct RuleViolation {
    /// The rule.
    rule_id: Uuid,
    /// Its name.
    rule_name: String,
    /// Its kind: `ai_threshold`, `keyword`, `regex`, `link`, `image_hash`. More may be added.
    rule_type: String,
    /// The score for `ai_threshold`, 1 for the others.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    confidence: f64,
    /// An explanation.
    details: String,
    /// What matched, masked; for rules on text.
    matched_text: Option<String>,
}
