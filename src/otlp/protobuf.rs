//! The request that carries spans: the messages of OpenTelemetry's `trace.proto`, with those fields
//! that we fill. Numbers and names are those of the standard. Tests read them with the official
//! definitions.

use std::time::{SystemTime, UNIX_EPOCH};

use prost::{Message, Oneof};
use telemetry::trace::{Ended, Kind, Value};

pub(crate) struct Origin {
    pub(crate) instance: String,
    pub(crate) version: &'static str,
}

#[derive(Message)]
pub(crate) struct ExportTraceServiceRequest {
    #[prost(message, repeated, tag = "1")]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Message)]
struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

#[derive(Message)]
struct ScopeSpans {
    #[prost(message, optional, tag = "1")]
    scope: Option<InstrumentationScope>,
    #[prost(message, repeated, tag = "2")]
    spans: Vec<Span>,
}

#[derive(Message)]
struct InstrumentationScope {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Message)]
struct Span {
    #[prost(bytes = "vec", tag = "1")]
    trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    id: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    parent_id: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(int32, tag = "6")]
    kind: i32,
    #[prost(fixed64, tag = "7")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "8")]
    end_time_unix_nano: u64,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<KeyValue>,
    #[prost(message, optional, tag = "15")]
    status: Option<Status>,
    #[prost(fixed32, tag = "16")]
    flags: u32,
}

#[derive(Message)]
struct Status {
    #[prost(string, tag = "2")]
    message: String,
    #[prost(int32, tag = "3")]
    code: i32,
}

/// `STATUS_CODE_ERROR`.
const ERROR: i32 = 2;

#[derive(Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Message)]
struct AnyValue {
    #[prost(oneof = "Any", tags = "1, 3")]
    value: Option<Any>,
}

#[derive(Oneof)]
enum Any {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(int64, tag = "3")]
    Number(i64),
}

impl Origin {
    /// A request with these spans.
    pub(crate) fn request(&self, ended: Vec<Ended>) -> ExportTraceServiceRequest {
        let attributes = [
            ("service.name", "gatehouse"),
            ("service.version", self.version),
            ("service.instance.id", &self.instance),
        ];
        let attributes = attributes.map(|(key, value)| attribute(key, value.into()));
        let spans = ScopeSpans {
            scope: Some(InstrumentationScope {
                name: "gatehouse".into(),
            }),
            spans: ended.into_iter().map(span).collect(),
        };
        ExportTraceServiceRequest {
            resource_spans: vec![ResourceSpans {
                resource: Some(Resource {
                    attributes: attributes.into(),
                }),
                scope_spans: vec![spans],
            }],
        }
    }
}

fn span(ended: Ended) -> Span {
    let context = ended.step.context;
    let parent = ended.step.parent;
    Span {
        trace_id: context.trace().as_bytes().to_vec(),
        id: context.span().as_bytes().to_vec(),
        parent_id: parent.map_or_else(Vec::new, |parent| parent.as_bytes().to_vec()),
        name: ended.name.into(),
        kind: match ended.kind {
            Kind::Server => 2,
            Kind::Client => 3,
            Kind::Consumer => 5,
        },
        start_time_unix_nano: nanos(ended.began),
        end_time_unix_nano: nanos(ended.began + ended.took),
        attributes: ended
            .attributes
            .into_iter()
            .map(|(key, value)| attribute(key, value))
            .collect(),
        status: ended.error.map(|reason| Status {
            message: reason.into(),
            code: ERROR,
        }),
        flags: context.flags().into(),
    }
}

fn attribute(key: &str, value: Value) -> KeyValue {
    let value = match value {
        Value::Text(text) => Any::Text(text),
        Value::Number(number) => Any::Number(number),
    };
    KeyValue {
        key: key.into(),
        value: Some(AnyValue { value: Some(value) }),
    }
}

fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
