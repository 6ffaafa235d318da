//! The export of spans, if the operator wants it.

use std::time::Duration;

use crate::otlp::{Collector, Exporter};
use telemetry::trace::Sink;
use uuid::Uuid;

use crate::config::OtlpOptions;

/// How long the last spans may take when the process stops.
const FINISH: Duration = Duration::from_secs(2);

/// Sends spans until the process stops.
pub(crate) struct Export(Option<Exporter>);

/// Starts to send spans if there is a collector.
///
/// # Errors
/// The HTTP client cannot be made.
pub(crate) fn start_export(options: &OtlpOptions) -> anyhow::Result<Export> {
    let Some(endpoint) = options.otlp_endpoint.clone() else {
        return Ok(Export(None));
    };
    let (sink, spans) = Sink::new(options.otlp_sample);
    let collector = Collector {
        endpoint,
        tls: workers::tls::client_config(),
        instance: Uuid::now_v7().to_string(),
        version: env!("CARGO_PKG_VERSION"),
    };
    let exporter = Exporter::start(spans, collector)?;
    telemetry::trace::install(sink);
    Ok(Export(Some(exporter)))
}

impl Export {
    /// Sends the last spans.
    pub(crate) async fn finish(self) {
        if let Some(exporter) = self.0 {
            exporter.finish(FINISH).await;
        }
    }
}
