//! How deep a JSON text is nested, and the paths of what is wrong in it. It is read byte by byte with a stack of bounded
//! size, so no document can overflow our stack.

use std::{fmt::Write as _, ops::Range};

/// Longest name of a member in a path, and longest path, in characters. Answers do not repeat
/// everything that a client sent.
const MAX_NAME: usize = 40;
const MAX_PATH: usize = 300;

/// The object or array that is being read.
enum Open {
    /// `name` is the place of the current member's name. `named`: the next string is a value.
    Object { name: Range<usize>, named: bool },
    /// The current element.
    Array { element: usize },
}

/// Where the reader is.
enum At {
    /// Before an object or array that is inside of this many others.
    Opening(usize),
    /// After a string, a value or a name, whose closing quote is there.
    String(usize),
}

/// The path of the first object or array deeper than `most`; `None` if there is none. The outermost
/// object or array has depth 1. `json` must be valid JSON. Takes time linear in its length, and
/// memory for `most` levels.
pub(super) fn too_deep(root: &str, json: &str, most: usize) -> Option<String> {
    first(
        root,
        json,
        |at| matches!(at, At::Opening(depth) if depth == most),
    )
}

/// The path of the string, a value or a name, that contains this byte of valid JSON. Takes as much memory as there are levels.
pub(super) fn path_of(root: &str, json: &str, byte: usize) -> Option<String> {
    first(root, json, |at| matches!(at, At::String(end) if byte < end))
}

/// The path of the first place that is searched.
fn first(root: &str, json: &str, is_searched: impl Fn(At) -> bool) -> Option<String> {
    let bytes = json.as_bytes();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = end_of_string(bytes, at);
                if let Some(Open::Object { name, named: false }) = open.last_mut() {
                    *name = at + 1..end;
                }
                if is_searched(At::String(end)) {
                    return Some(path(root, json, &open));
                }
                at = end;
            }
            b'{' | b'[' if is_searched(At::Opening(open.len())) => {
                return Some(path(root, json, &open));
            }
            b'{' => open.push(Open::Object {
                name: 0..0,
                named: false,
            }),
            b'[' => open.push(Open::Array { element: 0 }),
            b'}' | b']' => {
                open.pop();
            }
            b':' | b',' => match open.last_mut() {
                Some(Open::Object { named, .. }) => *named = *byte == b':',
                Some(Open::Array { element }) => *element += 1,
                None => {}
            },
            _ => {}
        }
        at += 1;
    }
    None
}

/// The place of the closing quote of the string that opens at `start`.
fn end_of_string(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => break,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

/// Names are spelled as in the document, including escapes.
fn path(root: &str, json: &str, open: &[Open]) -> String {
    let mut path = root.to_owned();
    for container in open {
        match container {
            Open::Object { name, .. } => {
                path.push('.');
                path.push_str(&shortened(
                    json.get(name.clone()).unwrap_or_default(),
                    MAX_NAME,
                ));
            }
            Open::Array { element } => {
                // Writing to a string cannot fail.
                let _ = write!(path, "[{element}]");
            }
        }
    }
    shortened(&path, MAX_PATH)
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
