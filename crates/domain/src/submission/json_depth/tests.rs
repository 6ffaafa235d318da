//! Depths, and the paths that point to what is too deep.

use super::*;

fn refused(json: &str, most: usize) -> Option<String> {
    serde_json::from_str::<&serde_json::value::RawValue>(json).unwrap();
    too_deep("metadata", json, most)
}

#[test]
fn the_outermost_object_counts_as_one() {
    assert_eq!(refused("{}", 1), None);
    assert_eq!(refused(r#"{"a":1,"b":"x"}"#, 1), None);
    assert_eq!(refused(r#"{"a":{}}"#, 1).unwrap(), "metadata.a");
    assert_eq!(refused(r#"{"a":[]}"#, 1).unwrap(), "metadata.a");
    for depth in 2..40 {
        let arrays = depth - 1;
        let json = format!(r#"{{"a":{}1{}}}"#, "[".repeat(arrays), "]".repeat(arrays));
        assert_eq!(refused(&json, depth), None, "{json}");
        assert!(refused(&json, depth - 1).is_some(), "{json}");
    }
}

#[test]
fn the_path_names_members_and_elements() {
    let json = r#"{"a":{"x":1}, "b" : [ 1, "[[[", {"c\"{": [[]], "d":2} ]}"#;
    assert_eq!(refused(json, 4).unwrap(), r#"metadata.b[2].c\"{[0]"#);
    assert_eq!(refused(json, 3).unwrap(), r#"metadata.b[2].c\"{"#);
    assert_eq!(refused(json, 5), None);
}

#[test]
fn the_path_of_a_string_names_its_members_and_elements() {
    let json = r#"{"a":{"x":"1"}, "b" : [ 1, "[[[", {"c\"{": ["?"], "d!":2} ]}"#;
    let path = |text: &str| path_of("metadata", json, json.find(text).unwrap()).unwrap();
    assert_eq!(path("1"), "metadata.a.x");
    assert_eq!(path("[[["), "metadata.b[1]");
    assert_eq!(path("?"), r#"metadata.b[2].c\"{[0]"#);
    assert_eq!(path("!"), "metadata.b[2].d!");
    assert_eq!(path_of("metadata", json, json.len()), None);
}

#[test]
fn brackets_in_strings_and_siblings_do_not_count() {
    let strings = format!(r#"{{"{0}":"{0}\\\"{0}"}}"#, "[{".repeat(500));
    assert_eq!(refused(&strings, 1), None);
    let siblings = format!(r#"{{"a":[{}[]]}}"#, "[],{},".repeat(500));
    assert_eq!(refused(&siblings, 3), None);
    assert_eq!(refused(&siblings, 2).unwrap(), "metadata.a[0]");
}

#[test]
fn a_path_is_short_whatever_the_names_are() {
    let name = "ü".repeat(500);
    let json = format!(
        "{}1{}",
        format!(r#"{{"{name}":"#).repeat(33),
        "}".repeat(33)
    );
    let path = refused(&json, 32).unwrap();
    assert!(path.chars().count() <= MAX_PATH + 3, "{path}");
    assert!(
        path.starts_with(&format!("metadata.{}....", "ü".repeat(MAX_NAME))),
        "{path}"
    );
}

#[test]
fn a_megabyte_of_brackets_needs_no_stack() {
    let json = format!("{}{}", "[".repeat(1 << 20), "]".repeat(1 << 20));
    assert_eq!(too_deep("metadata", &json, usize::MAX), None);
    assert!(too_deep("metadata", &json, 32).is_some());
}
