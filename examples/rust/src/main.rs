//! A comment form. Gatehouse moderates the comments and sends each verdict to /webhook.

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    fmt::Write as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Form, Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{Html, IntoResponse, Redirect, Response},
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::json;
use standardwebhooks::Webhook;
use tokio::{net::TcpListener, time::sleep};
use uuid::Uuid;

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    #[default]
    Pending,
    Approved,
    Rejected,
    PendingReview,
}

struct Comment {
    text: String,
    status: Status,
    /// When the status was decided. Gatehouse's times have one format, so they sort as texts.
    decided_at: String,
}

struct App {
    http: reqwest::Client,
    gatehouse_url: String,
    site_key: String,
    webhook: Webhook,
    /// By id. The ids are UUIDv7, so this is the order of arrival. A real application keeps its comments in a database.
    comments: Mutex<BTreeMap<String, Comment>>,
}

impl App {
    fn comments(&self) -> MutexGuard<'_, BTreeMap<String, Comment>> {
        self.comments.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Submits the comment. Fails if Gatehouse does not accept it.
    async fn submit(&self, id: &str, text: &str) -> Result<(), reqwest::Error> {
        let tries = 3;
        for number in 1.. {
            let body = json!({ "api_key": self.site_key, "body": text, "app_media_id": id });
            let request = self
                .http
                .post(format!("{}/submit-media", self.gatehouse_url))
                // The same key in each try: Gatehouse stores the comment once.
                .header("Idempotency-Key", id)
                .json(&body);
            let wait = match request.send().await {
                Ok(answer) => {
                    // 429 and 503 say when to try again. Other errors will not change.
                    let wait = answer.headers().get("Retry-After");
                    let seconds = wait.and_then(|wait| wait.to_str().ok()?.parse().ok());
                    match seconds {
                        Some(seconds) if number < tries => Duration::from_secs(seconds),
                        _ => return answer.error_for_status().map(drop),
                    }
                }
                Err(_) if number < tries => Duration::from_secs(1),
                Err(error) => return Err(error),
            };
            sleep(wait).await;
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct NewComment {
    text: String,
}

async fn add_comment(State(app): State<Arc<App>>, Form(new): Form<NewComment>) -> Response {
    let id = Uuid::now_v7().to_string();
    // Stored first: the webhook can arrive before the answer to the submission.
    let comment = Comment {
        text: new.text.clone(),
        status: Status::Pending,
        decided_at: String::new(),
    };
    app.comments().insert(id.clone(), comment);
    if let Err(error) = app.submit(&id, &new.text).await {
        eprintln!("the comment was not submitted: {error}");
        app.comments().remove(&id);
        let message = "Comments are not available at the moment. Please try again later.";
        return (StatusCode::SERVICE_UNAVAILABLE, message).into_response();
    }
    Redirect::to("/").into_response()
}

#[derive(Deserialize)]
struct Event {
    event: String,
    timestamp: String,
    data: EventData,
}

#[derive(Deserialize)]
struct EventData {
    app_media_id: Option<String>,
    #[serde(default)]
    status: Status,
}

async fn receive_webhook(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    raw_body: Bytes,
) -> StatusCode {
    // The signature is over the raw body, so it is checked before the body is parsed.
    if app.webhook.verify(&raw_body, &headers).is_err() {
        return StatusCode::UNAUTHORIZED;
    }
    let Ok(event) = serde_json::from_slice::<Event>(&raw_body) else {
        // A kind of event that this application does not know.
        return StatusCode::NO_CONTENT;
    };
    if event.event == "media.moderated"
        && let Some(id) = event.data.app_media_id
        && let Some(comment) = app.comments().get_mut(&id)
        // A webhook can come twice, or after a newer one. The newest verdict counts.
        && event.timestamp >= comment.decided_at
    {
        comment.status = event.data.status;
        comment.decided_at = event.timestamp;
    }
    StatusCode::NO_CONTENT
}

async fn show_comments(State(app): State<Arc<App>>) -> Html<String> {
    let mut items = String::new();
    for comment in app.comments().values() {
        let (status, text) = match comment.status {
            Status::Approved => ("approved", escaped(&comment.text)),
            Status::Rejected => ("rejected", "This comment was removed.".to_owned()),
            Status::PendingReview => {
                let text = "This comment is waiting for a person.";
                ("pending_review", text.to_owned())
            }
            Status::Pending => ("pending", "This comment is being checked.".to_owned()),
        };
        let _ = writeln!(items, r#"  <li data-status="{status}">{text}</li>"#);
    }
    Html(format!(
        r#"<!doctype html>
<title>Comments</title>
<h1>Comments</h1>
<form method="post" action="/comments">
  <textarea name="text" required></textarea>
  <button>Send</button>
</form>
<ul>
{items}</ul>
"#
    ))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let setting =
        |name| env::var(name).map_err(|_| format!("{name} is not set; see examples/README.md"));
    let app = App {
        http: reqwest::Client::builder()
            .timeout(Duration::from_secs(20))
            .build()?,
        gatehouse_url: setting("GATEHOUSE_URL")?,
        site_key: setting("GATEHOUSE_SITE_KEY")?,
        webhook: Webhook::new(&setting("GATEHOUSE_WEBHOOK_SECRET")?)?,
        comments: Mutex::default(),
    };
    let router = Router::new()
        .route("/", get(show_comments))
        .route("/comments", post(add_comment))
        .route("/webhook", post(receive_webhook))
        .with_state(Arc::new(app));
    let port = env::var("PORT").unwrap_or_else(|_| "3000".to_owned());
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    axum::serve(listener, router).await?;
    Ok(())
}
