//! The models that OpenAI lists for moderation. Gateways ask for them before they send anything. Each is accepted as `model`, and all
//! mean the site's rules and providers.

use std::sync::Arc;

use api_common::{Code, Json, Refusal};
use domain::rate_limit::RatePolicy;
use poem::{Endpoint, IntoResponse as _, Request, Response, endpoint::make};
use serde::Serialize;

use super::{super::submit_and_wait::authenticate, failed, key};
use crate::public::Public;

/// The days on which OpenAI announced the models, in seconds since 1970: 2024-09-26 and 2022-08-10.
const OMNI: u32 = 1_727_308_800;
const TEXT: u32 = 1_660_089_600;

/// Their ids, and when they were created.
const MODELS: [(&str, u32); 4] = [
    ("omni-moderation-latest", OMNI),
    ("omni-moderation-2024-09-26", OMNI),
    ("text-moderation-latest", TEXT),
    ("text-moderation-stable", TEXT),
];

#[derive(Serialize)]
struct Models {
    object: &'static str,
    data: Vec<Model>,
}

#[derive(Serialize)]
struct Model {
    id: &'static str,
    object: &'static str,
    created: u32,
    owned_by: &'static str,
}

impl Model {
    fn of((id, created): (&'static str, u32)) -> Self {
        Self {
            id,
            object: "model",
            created,
            owned_by: "system",
        }
    }
}

/// All of them.
pub(crate) fn list(public: Arc<Public>) -> impl Endpoint<Output = Response> {
    endpoint(public, |_| {
        let models = Models {
            object: "list",
            data: MODELS.into_iter().map(Model::of).collect(),
        };
        Ok(Json(models).into_response())
    })
}

/// One of them, by the last part of the path.
pub(crate) fn one(public: Arc<Public>) -> impl Endpoint<Output = Response> {
    endpoint(public, |path| {
        let id = path.rsplit('/').next().unwrap_or_default();
        let found = MODELS.into_iter().find(|(known, _)| *known == id);
        let found = found.ok_or_else(|| {
            Refusal::new(
                Code::ModelNotFound,
                "There is no such model for moderation. GET /models lists all.",
            )
        })?;
        Ok(Json(Model::of(found)).into_response())
    })
}

fn endpoint(
    public: Arc<Public>,
    answer: fn(&str) -> Result<Response, Refusal>,
) -> impl Endpoint<Output = Response> {
    make(move |request: Request| {
        let public = Arc::clone(&public);
        async move {
            let answered = async {
                authenticate(&public, key(&request)?, RatePolicy::Status).await?;
                answer(request.uri().path())
            };
            Ok::<_, poem::Error>(answered.await.unwrap_or_else(failed))
        }
    })
}
