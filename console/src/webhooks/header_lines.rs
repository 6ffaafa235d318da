//! The headers of an endpoint as somebody typed them, one in a line.

use domain::webhook::CustomHeader;
use management::{FieldProblem, Refused, endpoints::NewHeader};

/// The headers that somebody typed, one in a line: `Name: value`.
///
/// # Errors
/// The lines that are wrong, each with its number.
pub(super) fn read(text: &str) -> Result<Vec<NewHeader>, Refused> {
    let (mut headers, mut problems) = (Vec::new(), Vec::new());
    let lines = text.lines().zip(1..);
    for (line, number) in lines.filter(|(line, _)| !line.trim().is_empty()) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let (name, value) = (name.trim(), value.trim());
        match CustomHeader::new(name, value) {
            Ok(_) => headers.push(NewHeader {
                name: name.to_owned(),
                value: value.to_owned(),
            }),
            // The message never repeats the value, which may be a secret.
            Err(wrong) if problems.len() < 20 => problems.push(FieldProblem {
                field: "headers".to_owned(),
                message: format!("line {number}: {wrong}"),
                position: None,
            }),
            Err(_) => {}
        }
    }
    if problems.is_empty() {
        Ok(headers)
    } else {
        Err(Refused::fields(problems))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_lines_and_a_wrong_one_is_named_without_its_value() {
        let headers = read("Authorization: Bearer a:b\n\n  X-Key :1  \n").unwrap();
        let found: Vec<(&str, &str)> = headers
            .iter()
            .map(|header| (header.name.as_str(), header.value.as_str()))
            .collect();
        assert_eq!(found, [("Authorization", "Bearer a:b"), ("X-Key", "1")]);
        let Err(Refused::Fields(fields)) = read("\nHost: secret\nonly a name") else {
            panic!("two lines are wrong");
        };
        let messages: Vec<&str> = fields
            .problems
            .iter()
            .map(|problem| problem.message.as_str())
            .collect();
        assert!(messages[0].starts_with("line 2: "), "{messages:?}");
        assert!(messages[1].starts_with("line 3: "), "{messages:?}");
        assert!(!messages.concat().contains("secret"));
    }
}
