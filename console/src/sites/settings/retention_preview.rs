//! What the saved retention of a site means now, in words.

use chrono::{DateTime, Utc};
use management::sites::RetentionPreview;

/// What is said beside the field of items.
pub(super) fn items(outlook: &RetentionPreview) -> String {
    let oldest = match outlook.oldest_item {
        Some(at) => format!("the oldest item is of {}.", day(at)),
        None => "there is no item.".to_owned(),
    };
    match outlook.items_before {
        Some(before) => format!("Now: removes items judged before {}; {oldest}", day(before)),
        None => format!("Now: items are kept; {oldest}"),
    }
}

/// What is said beside the field of contents.
pub(super) fn contents(outlook: &RetentionPreview) -> String {
    let Some(before) = outlook.contents_before else {
        return "Now: contents are kept as long as items.".to_owned();
    };
    let next = match outlook.oldest_content {
        None => "there is none to remove.".to_owned(),
        Some(content) => {
            let accepted = day(content.accepted_at);
            match content.goes_at {
                Some(goes) => {
                    format!(
                        "the oldest is of {accepted} and goes on {} at the earliest.",
                        day(goes)
                    )
                }
                None => format!("the oldest is of {accepted} and stays until the item is judged."),
            }
        }
    };
    format!(
        "Now: removes contents of items judged before {}; {next}",
        day(before)
    )
}

fn day(time: DateTime<Utc>) -> String {
    time.format("%-d %B %Y").to_string()
}

#[cfg(test)]
mod tests {
    use management::sites::Content;

    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn what_goes_and_what_is_next_is_said() {
        let none = RetentionPreview {
            items_before: None,
            contents_before: None,
            oldest_item: None,
            oldest_content: None,
        };
        assert_eq!(items(&none), "Now: items are kept; there is no item.");
        assert_eq!(contents(&none), "Now: contents are kept as long as items.");
        let (before, oldest) = (at("2026-08-27T12:00:00Z"), at("2026-05-03T00:00:00Z"));
        let mut outlook = RetentionPreview {
            items_before: Some(before),
            contents_before: Some(before),
            oldest_item: Some(oldest),
            oldest_content: None,
        };
        assert_eq!(
            items(&outlook),
            "Now: removes items judged before 27 August 2026; the oldest item is of 3 May 2026."
        );
        let removes = "Now: removes contents of items judged before 27 August 2026; ";
        assert_eq!(
            contents(&outlook),
            format!("{removes}there is none to remove.")
        );
        for (goes_at, next) in [
            (
                Some(at("2026-09-02T00:00:00Z")),
                "goes on 2 September 2026 at the earliest.",
            ),
            (None, "stays until the item is judged."),
        ] {
            outlook.oldest_content = Some(Content {
                accepted_at: oldest,
                goes_at,
            });
            assert_eq!(
                contents(&outlook),
                format!("{removes}the oldest is of 3 May 2026 and {next}")
            );
        }
    }
}
