//! Where an author is found, and what cannot be one.

use super::*;

fn author(pointer: &str, metadata: &str) -> Option<String> {
    let pointer = MetadataPointer::try_from(pointer.to_owned()).unwrap();
    let metadata: Box<RawValue> = serde_json::from_str(metadata).unwrap();
    let author = pointer.author(&metadata);
    author.map(|author| author.as_str().to_owned())
}

#[test]
fn the_pointer_leads_through_objects_and_arrays_to_a_text_or_a_number() {
    for (pointer, metadata, found) in [
        ("/author", r#"{ "author": "u-17" }"#, "u-17"),
        ("/user/id", r#"{ "user": { "id": 42 } }"#, "42"),
        (
            "/user/id",
            r#"{ "user": { "id": 18446744073709551616 } }"#,
            "18446744073709551616",
        ),
        ("/user/id", r#"{ "user": { "id": -1.50 } }"#, "-1.50"),
        (
            "/users/1/id",
            r#"{ "users": [{ "id": "a" }, { "id": "b" }] }"#,
            "b",
        ),
        ("/users/0", r#"{ "users": { "0": "by name" } }"#, "by name"),
        ("/a~1b/~0~1", r#"{ "a/b": { "~/": "escaped" } }"#, "escaped"),
        // `~01` is the name `~1`, and no slash.
        ("/~01", r#"{ "~1": "tilde", "/": "slash" }"#, "tilde"),
        ("/", r#"{ "": "unnamed" }"#, "unnamed"),
        (
            "/é \"",
            "{ \"\\u00e9 \\\"\": \"\\ud83d\\ude00 ' % _ \\\\\" }",
            "😀 ' % _ \\",
        ),
        ("/a", r#"{ "a": "first", "a": "last" }"#, "last"),
    ] {
        assert_eq!(
            author(pointer, metadata).as_deref(),
            Some(found),
            "{pointer} {metadata}"
        );
    }
}

#[test]
fn anything_else_is_no_author() {
    let longest = "é".repeat(Author::LONGEST);
    let of = |value: &str| author("/a", &format!(r#"{{ "a": {value} }}"#));
    assert_eq!(of(&format!("{longest:?}")), Some(longest.clone()));
    let longer = format!("{:?}", longest + "e");
    let digits = "1".repeat(Author::LONGEST + 1);
    for value in [
        "null",
        "true",
        "{}",
        r#"{ "a": "b" }"#,
        r#"["b"]"#,
        r#""""#,
        "\"\\u0000\"",
        "\"\\ud800\"",
        &longer,
        &digits,
    ] {
        assert_eq!(of(value), None, "{value}");
    }
    for (pointer, metadata) in [
        ("/a/b", r#"{ "a": "b" }"#),
        ("/b", r#"{ "a": "b" }"#),
        ("/a/b", "{}"),
        ("/a/1", r#"{ "a": ["b"] }"#),
        ("/a/00", r#"{ "a": ["b"] }"#),
        ("/a/+0", r#"{ "a": ["b"] }"#),
        ("/a/-", r#"{ "a": ["b"] }"#),
        ("/a/", r#"{ "a": ["b"] }"#),
        ("/a/99999999999999999999", r#"{ "a": ["b"] }"#),
    ] {
        assert_eq!(author(pointer, metadata), None, "{pointer} {metadata}");
    }
}
