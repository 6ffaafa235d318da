//! Spreads refusals over time. One refusal costs little, but ten thousand a second keep a processor busy. So an address that is
//! refused often waits for its answers.

use std::{net::IpAddr, sync::Arc, time::Duration};

use fair_share::{Pacer, Proxies, Rate, client};
use metrics::{Counter, counter};
use poem::{Endpoint, Request, Response, Result};
use tokio::time::sleep;

use crate::body::sender;

/// How quickly refusals are answered.
#[derive(Clone, Debug)]
pub struct RefusalSettings {
    /// Refusals to one address per second. Twice as many can be sent at once.
    pub per_second: u32,
    /// Proxies, whose addresses stand for many clients and have ten times as many.
    pub proxies: Proxies,
}

impl Default for RefusalSettings {
    /// 100 a second, no proxies.
    fn default() -> Self {
        Self {
            per_second: 100,
            proxies: Proxies::default(),
        }
    }
}

/// How many clients an address of a proxy counts for.
const CLIENTS_OF_A_PROXY: f64 = 10.0;
/// The longest delay of an answer, short enough that clients do not give up.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Wraps an endpoint and delays its refusals.
pub struct SlowRefusals<E> {
    inner: E,
    settings: RefusalSettings,
    pacer: Arc<Pacer<IpAddr>>,
    paced: Counter,
}

impl<E> SlowRefusals<E> {
    /// Wraps an endpoint.
    pub fn new(inner: E, settings: RefusalSettings) -> Self {
        let paced = counter!("gatehouse_paced_requests_total", "policy" => "refusals");
        paced.increment(0);
        Self {
            inner,
            settings,
            pacer: Arc::default(),
            paced,
        }
    }

    fn wait(&self, address: IpAddr) -> Duration {
        let client = client(address);
        let clients = if self.settings.proxies.contain(client) {
            CLIENTS_OF_A_PROXY
        } else {
            1.0
        };
        let per_second = f64::from(self.settings.per_second) * clients;
        let rate = Rate::per_second(per_second);
        let turn = self.pacer.turn(client, rate, LONGEST_WAIT);
        turn.unwrap_or(LONGEST_WAIT)
    }
}

impl<E: Endpoint<Output = Response>> Endpoint for SlowRefusals<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let address = sender(&request);
        let response = self.inner.call(request).await?;
        if response.status().is_client_error() {
            let wait = self.wait(address);
            if !wait.is_zero() {
                self.paced.increment(1);
                sleep(wait).await;
            }
        }
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    use poem::{endpoint::make_sync, http::StatusCode};
    use tokio::time::Instant;

    use super::*;

    /// How long this many answers take, one after another.
    async fn asked(status: StatusCode, times: u32, settings: RefusalSettings) -> Duration {
        let endpoint = SlowRefusals::new(make_sync(move |_| Response::from(status)), settings);
        let started = Instant::now();
        for _ in 0..times {
            let answer = endpoint.call(Request::default()).await.unwrap();
            assert_eq!(answer.status(), status);
        }
        started.elapsed()
    }

    #[tokio::test]
    async fn case_45_refusals_are_answered_at_a_rate_and_other_answers_at_once() {
        let settings = RefusalSettings {
            per_second: 50,
            ..RefusalSettings::default()
        };
        // The first hundred at once, fifty more in a second.
        for refused in [StatusCode::TOO_MANY_REQUESTS, StatusCode::NOT_FOUND] {
            let took = asked(refused, 125, settings.clone()).await;
            assert!(took >= Duration::from_millis(450), "{took:?}");
        }
        // Without measuring: these would take minutes.
        for answered in [StatusCode::OK, StatusCode::SERVICE_UNAVAILABLE] {
            asked(answered, 10_000, settings.clone()).await;
        }
    }

    #[tokio::test]
    async fn case_45_a_proxy_is_refused_more_and_no_answer_waits_longer_than_two_seconds() {
        let settings = RefusalSettings {
            per_second: 1,
            proxies: Proxies::new(["10.0.0.0/8".parse().unwrap()]),
        };
        let endpoint = SlowRefusals::new((), settings);
        let waits = |address: &str| {
            let waits = (0..30).map(|_| endpoint.wait(address.parse().unwrap()));
            waits.collect::<Vec<_>>()
        };
        let (client, proxy) = (waits("192.0.2.1"), waits("10.0.0.1"));
        assert_eq!(client[..2], [Duration::ZERO; 2]);
        assert!(client[2] > Duration::ZERO);
        assert_eq!(client[29], LONGEST_WAIT);
        assert_eq!(proxy[..20], [Duration::ZERO; 20]);
        assert!(proxy[20] > Duration::ZERO);
    }
}
