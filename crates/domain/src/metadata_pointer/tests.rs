//! What is such a pointer.

use super::*;

#[test]
fn a_pointer_is_one_of_rfc_6901_and_not_too_long_or_deep() {
    let long = format!("/{}", "é".repeat(MetadataPointer::LONGEST - 1));
    for text in [
        "/",
        "/a",
        "/a//b",
        "/~0~1",
        "/1/2/3/4/5/6/7/8",
        "/a b\"\\",
        &long,
    ] {
        let pointer = MetadataPointer::try_from(text.to_owned()).unwrap();
        assert_eq!(String::from(pointer), text);
    }
    let longer = format!("{long}e");
    for text in [
        "",
        "a",
        "user/id",
        "#/a",
        "$.a",
        "/~",
        "/a~2",
        "/~~0",
        "/a\0",
        "/1/2/3/4/5/6/7/8/9",
        &longer,
    ] {
        let refused = MetadataPointer::try_from(text.to_owned());
        assert_eq!(refused, Err(InvalidMetadataPointer), "{text:?}");
    }
}
