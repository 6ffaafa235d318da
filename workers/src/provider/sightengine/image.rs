//! Sightengine's answers about an image, and the models that are asked.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use domain::score::{Category, Scores};
use reqwest::header::HeaderMap;
use serde::Deserialize;

use super::{Failure, Sightengine};
use crate::provider::{
    ProviderError,
    transport::{Meaning, parsed, score, told, unique_keys},
};

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    status: String,
    error: Option<Failure>,
    nudity: Option<Nudity>,
    gore: Option<Classes>,
    violence: Option<Classes>,
    #[serde(rename = "self-harm")]
    self_harm: Option<Probability>,
    offensive: Option<Offensive>,
}

/// The classes that count as adult. The others, from `very_suggestive` to `none`, are the rest to
/// 1.
#[derive(Deserialize)]
struct Nudity {
    sexual_activity: f64,
    sexual_display: f64,
    erotica: f64,
}

/// A model with several classes. `prob` is the highest of them.
#[derive(Deserialize)]
struct Classes {
    prob: f64,
    #[serde(default, deserialize_with = "unique_keys")]
    classes: BTreeMap<String, f64>,
}

impl Classes {
    /// The scores of all classes except the harmless ones, or `prob` if the answer has no classes.
    fn without(&self, harmless: &[&str]) -> Vec<f64> {
        let counted = self.classes.iter();
        let counted = counted.filter(|(name, _)| !harmless.contains(&name.as_str()));
        let counted: Vec<f64> = counted.map(|(_, score)| *score).collect();
        if counted.is_empty() {
            vec![self.prob]
        } else {
            counted
        }
    }
}

#[derive(Deserialize)]
struct Probability {
    prob: f64,
}

#[derive(Deserialize)]
struct Offensive {
    nazi: f64,
    confederate: f64,
    supremacist: f64,
    terrorist: f64,
}

/// The models that score these categories. Each model costs.
pub(super) fn models(categories: &[Category]) -> String {
    let models = categories.iter().flat_map(|category| match category {
        Category::Adult => ["nudity-2.1"].as_slice(),
        Category::Violence => &["violence", "gore-2.0"],
        Category::Hate => &["offensive-2.0"],
        Category::SelfHarm => &["self-harm"],
        Category::Harassment | Category::SexualMinors | Category::Illicit | Category::Spam => &[],
    });
    models.copied().collect::<Vec<_>>().join(",")
}

pub(super) fn read(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let response: Response = parsed(body)?;
    if let Some(error) = &response.error {
        return Err(error.meaning().error(told(&error.kind), None));
    }
    if response.status != "success" {
        return Err(ProviderError::Malformed("neither success nor failure"));
    }
    categories
        .iter()
        .filter(|category| Sightengine::IMAGE.contains(category))
        .map(|category| Ok((*category, response.score(*category)?)))
        .collect()
}

impl Response {
    /// Our score, for one of [`Sightengine::IMAGE`].
    fn score(&self, category: Category) -> Result<f64, ProviderError> {
        let numbers = self.numbers(category);
        let numbers = numbers.ok_or(ProviderError::Malformed("a model's answer is missing"))?;
        let numbers: Vec<f64> = numbers.into_iter().map(score).collect::<Result<_, _>>()?;
        Ok(match category {
            Category::Adult => numbers.iter().sum::<f64>().min(1.0),
            _ => numbers.into_iter().fold(0.0, f64::max),
        })
    }

    /// The numbers that a category consists of, if all of them are present.
    fn numbers(&self, category: Category) -> Option<Vec<f64>> {
        match category {
            Category::Adult => {
                let nudity = self.nudity.as_ref()?;
                Some(vec![
                    nudity.sexual_activity,
                    nudity.sexual_display,
                    nudity.erotica,
                ])
            }
            Category::Violence => {
                let (violence, gore) = (self.violence.as_ref()?, self.gore.as_ref()?);
                let mut numbers = violence.without(&["combat_sport"]);
                numbers.extend(gore.without(&["skull", "body_waste"]));
                Some(numbers)
            }
            Category::Hate => {
                let symbols = self.offensive.as_ref()?;
                Some(vec![
                    symbols.nazi,
                    symbols.confederate,
                    symbols.supremacist,
                    symbols.terrorist,
                ])
            }
            Category::SelfHarm => Some(vec![self.self_harm.as_ref()?.prob]),
            Category::Harassment | Category::SexualMinors | Category::Illicit | Category::Spam => {
                None
            }
        }
    }
}

/// The meaning of an error. Its status may be 200.
pub(super) fn explain(_: &HeaderMap, body: &[u8]) -> Option<Meaning> {
    let response: Response = parsed(body).ok()?;
    let kind = response.error?;
    // For the other errors, the status says more.
    match kind.meaning() {
        Meaning::Refused => None,
        meaning => Some(meaning),
    }
}
