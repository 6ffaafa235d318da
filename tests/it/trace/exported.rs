//! What a collector gets: read with the official definitions.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest, common::v1::any_value::Value as Any,
    trace::v1::Span,
};
use prost::Message as _;
use serde_json::json;

use super::{SOON, SPAN, TRACE, sent, submit, traceparent};
use crate::support::{Act, DataDir, FakeProvider, Mode, Receiver, ScriptedServer, Up, eventually};

const TEXT: &str = "a text that nobody else may read";
const TOKEN: &str = "token-in-the-query";

/// The bodies of the requests that a collector got.
fn bodies(collector: &ScriptedServer) -> Vec<Vec<u8>> {
    let requests = collector.requests("/v1/traces").into_iter();
    requests
        .map(|request| {
            let end = request.windows(4).position(|four| four == b"\r\n\r\n");
            request[end.unwrap() + 4..].to_vec()
        })
        .collect()
}

/// The spans that a collector got, of one trace.
fn spans(collector: &ScriptedServer, trace: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    for body in bodies(collector) {
        let request = ExportTraceServiceRequest::decode(&*body).expect("it is OTLP");
        for resource in request.resource_spans {
            let attributes = resource.resource.unwrap().attributes;
            let service = attributes.iter().find(|one| one.key == "service.name");
            let service = service.unwrap().value.clone().unwrap().value;
            assert_eq!(service, Some(Any::StringValue("gatehouse".into())));
            for scope in resource.scope_spans {
                spans.extend(scope.spans);
            }
        }
    }
    spans.retain(|span| hex::encode(&span.trace_id) == trace);
    spans
}

fn only<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let mut named = spans.iter().filter(|span| span.name == name);
    let first = named.next().unwrap_or_else(|| panic!("no {name}"));
    assert!(named.next().is_none(), "two {name}");
    first
}

#[tokio::test(flavor = "multi_thread")]
async fn one_trace_with_the_right_parents_and_no_content() {
    let receiver = Receiver::start().await;
    let collector = ScriptedServer::start(|_, _| Act::head("200 OK")).await;
    let provider = FakeProvider::openai(Mode::Well).await;
    let data = DataDir::new();
    let (webhooks, endpoint) = (format!("{}?{TOKEN}", receiver.url()), collector.url(""));
    let options = provider.options();
    let mut arguments: Vec<&str> = options.iter().map(String::as_str).collect();
    arguments.extend(["--webhook-url", &webhooks, "--otlp-endpoint", &endpoint]);
    arguments.extend(["--otlp-sample", "0"]);
    let up = Up::start(&data, &arguments).await;

    let fields = json!({ "body": TEXT, "metadata": { "of": "somebody" } });
    let sampled = traceparent(TRACE, "01");
    let media = submit(&up, fields.clone(), &[("traceparent", sampled.as_str())]).await;
    // Not sampled: the caller said so, or the share of 0 decided.
    let unsampled = TRACE.replace('4', "5");
    let value = traceparent(&unsampled, "00");
    let second = submit(&up, fields.clone(), &[("traceparent", value.as_str())]).await;
    let third = submit(&up, fields, &[]).await;
    for media in [&media, &second, &third] {
        up.verdict(media).await;
    }
    let webhooks = sent(&receiver, &media).await;
    sent(&receiver, &second).await;
    sent(&receiver, &third).await;
    eventually("all spans", SOON, async || {
        (spans(&collector, TRACE).len() >= 5).then_some(())
    })
    .await;
    let secrets = [
        TEXT.to_owned(),
        TOKEN.to_owned(),
        "somebody".to_owned(),
        up.demo().site_key.clone(),
        up.demo().webhook_secret.clone(),
        FakeProvider::KEY.to_owned(),
    ];
    assert!(up.stop().success());

    let spans = spans(&collector, TRACE);
    assert_eq!(spans.len(), 5, "{spans:#?}");
    let submitted = only(&spans, "submit");
    assert_eq!(hex::encode(&submitted.parent_span_id), SPAN);
    let analysed = only(&spans, "analysis");
    assert_eq!(analysed.parent_span_id, submitted.span_id);
    let asked = only(&spans, "provider");
    assert_eq!(asked.parent_span_id, analysed.span_id);
    // Each webhook names the span of its attempt.
    let mut attempts: Vec<String> = Vec::new();
    for span in spans.iter().filter(|span| span.name == "webhook") {
        assert_eq!(span.parent_span_id, submitted.span_id);
        attempts.push(hex::encode(&span.span_id));
    }
    let mut named = webhooks.map(|[_, span, _]| span);
    attempts.sort();
    named.sort();
    assert_eq!(attempts, named);
    let mut ids = BTreeMap::new();
    for span in &spans {
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano);
        assert!(span.status.is_none(), "{span:?}");
        ids.insert(span.span_id.clone(), &span.name);
    }
    assert_eq!(ids.len(), 5);

    for other in [unsampled, third.replace('-', "")] {
        assert!(super::exported::spans(&collector, &other).is_empty());
    }
    let all = bodies(&collector).concat();
    for secret in secrets {
        let found = all
            .windows(secret.len())
            .any(|part| part == secret.as_bytes());
        assert!(!found, "{secret} was sent");
    }
}
