//! Sightengine's answers about a text: how certain each class of the models `general` and
//! `self-harm` is.

use domain::score::{Category, Scores};
use serde::Deserialize;

use super::Failure;
use crate::provider::{
    ProviderError,
    transport::{parsed, score, told},
};

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    status: String,
    error: Option<Failure>,
    moderation_classes: Option<Classes>,
}

/// The classes of the models `general` and `self-harm`; how certain each one is.
#[derive(Deserialize)]
struct Classes {
    sexual: f64,
    discriminatory: f64,
    insulting: f64,
    violent: f64,
    toxic: f64,
    #[serde(rename = "self-harm")]
    self_harm: f64,
}

/// Reads the classes of a text.
pub(super) fn read(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let response: Response = parsed(body)?;
    if let Some(error) = &response.error {
        return Err(error.meaning().error(told(&error.kind), None));
    }
    let (true, Some(classes)) = (response.status == "success", response.moderation_classes) else {
        return Err(ProviderError::Malformed("neither success nor failure"));
    };
    categories
        .iter()
        .filter_map(|category| Some((*category, classes.of(*category)?)))
        .map(|(category, told)| Ok((category, score(told)?)))
        .collect()
}

impl Classes {
    fn of(&self, category: Category) -> Option<f64> {
        match category {
            Category::Adult => Some(self.sexual),
            Category::Violence => Some(self.violent),
            Category::Hate => Some(self.discriminatory),
            Category::Harassment => Some(self.insulting.max(self.toxic)),
            Category::SelfHarm => Some(self.self_harm),
            Category::SexualMinors | Category::Illicit | Category::Spam => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::provider::Sightengine;

    #[test]
    fn the_classes_of_a_text_are_mapped() {
        let mut answer = json!({
            "status": "success",
            "moderation_classes": {
                "available": ["sexual", "discriminatory", "insulting", "violent", "toxic", "self-harm"],
                "sexual": 0.5, "discriminatory": 0.25, "insulting": 0.125, "violent": 0.0, "toxic": 0.75, "self-harm": 0.0625,
            },
        });
        let read_all =
            |answer: &Value| read(&serde_json::to_vec(answer).unwrap(), Sightengine::TEXT);
        assert_eq!(
            read_all(&answer).unwrap().iter().collect::<Vec<_>>(),
            [
                (Category::Adult, 0.5),
                (Category::Violence, 0.0),
                (Category::Hate, 0.25),
                (Category::SelfHarm, 0.0625),
                (Category::Harassment, 0.75),
            ]
        );
        answer["moderation_classes"]
            .as_object_mut()
            .unwrap()
            .remove("toxic");
        assert!(read_all(&answer).is_err());
        assert!(read_all(&failure_of("usage_limit")).is_err());
        assert!(read_all(&json!({ "status": "success" })).is_err());
    }

    fn failure_of(kind: &str) -> Value {
        json!({ "status": "failure", "error": { "type": kind, "code": 1, "message": "m" } })
    }
}
