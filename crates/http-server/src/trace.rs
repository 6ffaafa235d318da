//! The caller's trace, from the header `traceparent`.

use poem::http::HeaderMap;
use telemetry::trace::Context;

const HEADER: &str = "traceparent";

/// The trace that the caller names. None if it names none, or if what it says is invalid.
pub(crate) fn caller(headers: &HeaderMap) -> Option<Context> {
    let mut values = headers.get_all(HEADER).iter();
    let value = values.next()?;
    // Two values are as invalid as none of them.
    if values.next().is_some() {
        return None;
    }
    Context::parse(value.as_bytes())
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;

    use super::*;

    const VALUE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn one_valid_value_counts_and_nothing_else() {
        let mut headers = HeaderMap::new();
        assert_eq!(caller(&headers), None);
        headers.append(HEADER, HeaderValue::from_static(VALUE));
        assert_eq!(caller(&headers), Context::parse(VALUE.as_bytes()));
        assert!(caller(&headers).is_some());
        headers.append(HEADER, HeaderValue::from_static(VALUE));
        assert_eq!(caller(&headers), None);
        headers.insert(HEADER, HeaderValue::from_static("00-x"));
        assert_eq!(caller(&headers), None);
    }
}
