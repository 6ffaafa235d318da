//! Values of `traceparent`: those of the standard, and what it calls invalid.

use super::*;

/// The examples of the standard.
const SAMPLED_ONE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const UNSAMPLED_ONE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

fn parse(value: &str) -> Option<Context> {
    Context::parse(value.as_bytes())
}

#[test]
fn the_standards_examples_are_read_and_written() {
    for value in [SAMPLED_ONE, UNSAMPLED_ONE] {
        let context = parse(value).unwrap();
        assert_eq!(context.to_string(), value);
        assert_eq!(
            context.trace().to_string(),
            "4bf92f3577b34da6a3ce929d0e0e4736"
        );
        assert_eq!(context.span().to_string(), "00f067aa0ba902b7");
        assert_eq!(context.is_sampled(), value == SAMPLED_ONE);
        assert_eq!(Context::of_bytes(&context.to_bytes()), Some(context));
    }
}

#[test]
fn unknown_flags_are_sent_as_zero() {
    for (flags, kept) in [("ff", "03"), ("02", "02"), ("09", "01"), ("f8", "00")] {
        let value = format!("{}{flags}", &SAMPLED_ONE[..53]);
        assert_eq!(&parse(&value).unwrap().to_string()[53..], kept);
    }
}

#[test]
fn a_later_version_counts_as_far_as_it_is_known_and_is_answered_in_version_0() {
    let rest = &SAMPLED_ONE[2..];
    for value in [
        format!("cc{rest}"),
        format!("cc{rest}-what-the-future-will-be-like"),
        format!("01{rest}-"),
    ] {
        assert_eq!(parse(&value).unwrap().to_string(), SAMPLED_ONE, "{value}");
    }
    for value in [format!("cc{rest}.what"), format!("cc{rest}0")] {
        assert_eq!(parse(&value), None, "{value}");
    }
}

#[test]
fn what_the_standard_calls_invalid_is_none() {
    let invalid = [
        "",
        "00",
        // The version that is forbidden.
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        // More than version 0 has.
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-010",
        // All zero.
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        // Capital letters, other characters.
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473x-00f067aa0ba902b7-01",
        "0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0X",
        // Too short.
        "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        // Other separators.
        "00.4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736.00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7.01",
        // Two values in one.
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01,00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    ];
    for value in invalid {
        assert_eq!(parse(value), None, "{value}");
    }
}

#[test]
fn only_what_the_id_does_not_tell_is_stored() {
    let id = [
        1, 152, 32, 90, 77, 193, 112, 17, 137, 2, 71, 155, 11, 220, 3, 55,
    ];
    let own = Context::of_item(id);
    assert_eq!(own.to_store(id), None);
    assert_eq!(Context::of_stored(id, None), own);
    assert!(!own.is_sampled());

    for told in [own.sampled(), parse(SAMPLED_ONE).unwrap(), own.child()] {
        let stored = told.to_store(id).unwrap();
        assert_eq!(Context::of_stored(id, Some(&stored)), told);
    }
    // What a newer binary may have stored.
    assert_eq!(Context::of_stored(id, Some(&[1; 26])), own);
}

#[test]
fn a_child_keeps_the_trace_and_its_flags_but_not_the_span() {
    let parent = parse(SAMPLED_ONE).unwrap();
    let child = parent.child();
    assert_eq!(child.trace(), parent.trace());
    assert_eq!(child.flags(), parent.flags());
    assert_ne!(child.span(), parent.span());
    assert_eq!(parse(&child.to_string()), Some(child));
    assert_ne!(Context::begin().trace(), Context::begin().trace());
}
