//! The routes, for metrics and `Allow` headers, and the measurements of every request.
//!
//! Labels are bounded: a route is an entry of the table or `unknown`, never a path with an id in
//! it. A method is one of a few names.

use std::{sync::OnceLock, time::Duration};

use matchit::Router;
use metrics::{Counter, Histogram, counter, histogram};
use poem::http::{HeaderValue, Method, StatusCode};

/// All routes of a listener. Their paths may have parameters: `/sites/{site_id}`.
pub struct Routes {
    known: Router<Route>,
    unknown: Route,
}

impl Routes {
    /// From paths and their methods. A path with GET also has HEAD.
    pub fn new(paths: impl IntoIterator<Item = (String, Vec<Method>)>) -> Self {
        let mut known = Router::new();
        for (path, methods) in paths {
            let route = Route::new(path.clone(), &methods);
            known
                .insert(path, route)
                .expect("no two routes have the same paths");
        }
        Self {
            known,
            unknown: Route::new("unknown".to_owned(), &[]),
        }
    }

    /// Shows the durations of these routes from the start, for alerts that compare them with what was
    /// before. Those of the other routes appear with their first request: each has 18 series.
    #[must_use]
    pub fn measured(self, paths: &[&str]) -> Self {
        for path in paths {
            if let Ok(found) = self.known.at(path) {
                found.value.show_durations();
            }
        }
        self
    }

    pub(crate) fn find(&self, path: &str) -> &Route {
        self.known
            .at(path)
            .map_or(&self.unknown, |found| found.value)
    }
}

/// One route. Its metrics are looked up once and then only counted.
pub(crate) struct Route {
    template: String,
    allow: HeaderValue,
    /// The positions of its methods, without HEAD.
    methods: Vec<usize>,
    meters: [Meters; METHODS.len()],
}

#[derive(Default)]
struct Meters {
    requests: [OnceLock<Counter>; CLASSES.len()],
    duration: OnceLock<Histogram>,
}

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "other"];
/// The position of all methods that are not named.
const OTHER: usize = METHODS.len() - 1;
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
/// The positions of the classes that every route can answer with.
const SUCCESS: usize = 1;
const REFUSAL: usize = 3;
const FAILURE: usize = 4;

impl Route {
    fn new(template: String, methods: &[Method]) -> Self {
        let mut names: Vec<&str> = methods.iter().map(Method::as_str).collect();
        let places = names.iter().map(|name| place(name));
        let methods_of = places.filter(|place| *place != OTHER).collect();
        if methods.contains(&Method::GET) {
            names.push("HEAD");
        }
        names.sort_unstable();
        let allow = HeaderValue::from_str(&names.join(", ")).expect("methods are tokens");
        let route = Self {
            template,
            allow,
            methods: methods_of,
            meters: Default::default(),
        };
        for name in names {
            // Shown as 0 from the start: a counter that first appears with its first incident shows
            // no increase.
            for class in [SUCCESS, REFUSAL, FAILURE] {
                route.requests(place(name), class).increment(0);
            }
        }
        route
    }

    /// The path as it is written in the table.
    pub(crate) fn template(&self) -> &str {
        &self.template
    }

    /// The value of the header `Allow`.
    pub(crate) fn allow(&self) -> HeaderValue {
        self.allow.clone()
    }

    /// Counts one request.
    pub(crate) fn record(&self, method: &Method, status: StatusCode, took: Duration) {
        let method = place(method.as_str());
        let class = usize::from(status.as_u16() / 100).clamp(1, CLASSES.len()) - 1;
        self.requests(method, class).increment(1);
        self.duration(method).record(took);
    }

    fn show_durations(&self) {
        for method in &self.methods {
            let _shown = self.duration(*method);
        }
    }

    fn duration(&self, method: usize) -> &Histogram {
        self.meters[method].duration.get_or_init(|| {
            histogram!(
                "gatehouse_http_request_duration_seconds",
                "route" => self.template.clone(), "method" => METHODS[method]
            )
        })
    }

    fn requests(&self, method: usize, class: usize) -> &Counter {
        self.meters[method].requests[class].get_or_init(|| {
            counter!(
                "gatehouse_http_requests_total",
                "route" => self.template.clone(), "method" => METHODS[method], "code_class" => CLASSES[class]
            )
        })
    }
}

/// The position of a method's name.
fn place(name: &str) -> usize {
    METHODS
        .iter()
        .position(|method| *method == name)
        .unwrap_or(OTHER)
}
