//! The names of the kinds of rules.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of a kind of rule, as in `rule_violations[].rule_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleType {
    /// See [`super::RuleKind::Keyword`].
    Keyword,
    /// See [`super::RuleKind::Regex`].
    Regex,
    /// See [`super::RuleKind::Link`].
    Link,
    /// See [`super::RuleKind::ImageHash`].
    ImageHash,
    /// See [`super::RuleKind::AiThreshold`].
    AiThreshold,
}

impl RuleType {
    /// Whether such a rule looks at the content itself, and not at the result of an analysis.
    pub const fn is_content(self) -> bool {
        match self {
            Self::Keyword | Self::Regex | Self::Link | Self::ImageHash => true,
            Self::AiThreshold => false,
        }
    }

    /// The name in documents.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keyword => "keyword",
            Self::Regex => "regex",
            Self::Link => "link",
            Self::ImageHash => "image_hash",
            Self::AiThreshold => "ai_threshold",
        }
    }
}

impl fmt::Display for RuleType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
