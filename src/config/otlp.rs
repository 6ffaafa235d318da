//! Where the spans of traces go.

use clap::Args;
use url::Url;

use super::value_parsers::http_url;

/// Where the spans of traces go, and of how many traces.
#[derive(Debug, Args)]
pub(crate) struct OtlpOptions {
    /// Address of an OpenTelemetry collector that takes OTLP over HTTP, such as <http://collector:4318>. Spans are sent to
    /// /v1/traces below it. Without it, none are made
    #[arg(long, env = "GATEHOUSE_OTLP_ENDPOINT", hide_env_values = true, value_parser = http_url)]
    pub(crate) otlp_endpoint: Option<Url>,
    /// Share of the traces that begin here whose spans are sent: 0 to 1. A caller's `traceparent` decides about its own trace
    #[arg(long, env = "GATEHOUSE_OTLP_SAMPLE", default_value_t = 1.0, value_parser = share)]
    pub(crate) otlp_sample: f64,
}

fn share(text: &str) -> Result<f64, String> {
    let share: Option<f64> = text.parse().ok();
    let share = share.filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "must be a number from 0 to 1, such as 0.01".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_number_from_0_to_1() {
        assert_eq!(share("0.25"), Ok(0.25));
        assert_eq!((share("0"), share("1")), (Ok(0.0), Ok(1.0)));
        for wrong in ["", "x", "-0.1", "1.1", "NaN", "inf", "10%"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }
}
