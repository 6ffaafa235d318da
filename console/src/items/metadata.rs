//! What an application sent along with an item, as names and values.

use crate::visible_text::VisibleText;

/// Names that are shown one by one.
const MOST_NAMES: usize = 60;

/// Characters of a name and of a value.
const LONGEST: usize = 300;

/// Metadata as a page shows it.
pub(crate) struct Metadata {
    /// Names and values. What is in objects and arrays is JSON.
    pub(crate) members: Vec<(VisibleText, VisibleText)>,
    /// How many names are not shown.
    pub(crate) more: usize,
    /// All of it as it was sent, at most 16 KiB, if something was cut.
    pub(crate) whole: Option<VisibleText>,
}

/// `None`: there is none.
pub(crate) fn of(json: &str) -> Option<Metadata> {
    let value: serde_json::Value = serde_json::from_str(json).ok()?;
    let members = value.as_object().filter(|members| !members.is_empty())?;
    let shown: Vec<_> = members
        .iter()
        .take(MOST_NAMES)
        .map(|(name, value)| {
            let value = match value {
                serde_json::Value::String(text) => VisibleText::truncated(text, LONGEST),
                other => VisibleText::truncated(&other.to_string(), LONGEST),
            };
            (VisibleText::truncated(name, LONGEST), value)
        })
        .collect();
    let more = members.len() - shown.len();
    let is_cut = more > 0
        || shown
            .iter()
            .any(|(name, value)| name.is_cut || value.is_cut);
    Some(Metadata {
        members: shown,
        more,
        whole: is_cut.then(|| VisibleText::new(json, &[])),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_many_members_are_cut_and_the_whole_is_there() {
        assert!(of("{}").is_none());
        let short = of(r#"{"author":"u-17","tags":["a",1]}"#).unwrap();
        assert_eq!(short.members.len(), 2);
        assert_eq!(short.members[1].1.parts[0].text, r#"["a",1]"#);
        assert!(short.whole.is_none());
        let long = of(&format!(r#"{{"a":"{}"}}"#, "x".repeat(301))).unwrap();
        assert!(long.members[0].1.is_cut && long.whole.is_some());
        let names: Vec<String> = (0..100).map(|name| format!(r#""{name}":1"#)).collect();
        let many = of(&format!("{{{}}}", names.join(","))).unwrap();
        assert_eq!((many.members.len(), many.more), (60, 40));
    }
}
