//! What Hive answers: severities of a text's classes, and confidences of an image's.

use std::collections::BTreeMap;

use domain::score::{Category, Scores};
use serde::Deserialize;

use crate::provider::{
    ProviderError,
    transport::{parsed, score},
};

/// The highest severity of a text.
const WORST: f64 = 3.0;
/// The severity of a text in an unknown language.
const UNKNOWN: f64 = -1.0;

#[derive(Deserialize)]
struct Response {
    status: Vec<Status>,
}

#[derive(Deserialize)]
struct Status {
    response: Output,
}

#[derive(Deserialize)]
struct Output {
    output: Vec<Moment>,
}

/// A part of a text, or an image.
#[derive(Deserialize)]
struct Moment {
    classes: Vec<Class>,
}

#[derive(Deserialize)]
struct Class {
    class: String,
    score: f64,
}

/// The classes of an answer, each with its values for the parts of the text.
fn classes(body: &[u8]) -> Result<BTreeMap<String, Vec<f64>>, ProviderError> {
    let response: Response = parsed(body)?;
    let [status] = response.status.as_slice() else {
        return Err(ProviderError::Malformed("not one status"));
    };
    let mut classes: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for Class { class, score } in status.response.output.iter().flat_map(|m| &m.classes) {
        classes.entry(class.clone()).or_default().push(*score);
    }
    Ok(classes)
}

pub(super) fn of_text(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let told = classes(body)?;
    let mut scores = Scores::default();
    for category in categories {
        let mut severities = Vec::new();
        for class in text_classes(*category) {
            let told = told.get(*class);
            severities.extend(told.ok_or(ProviderError::Malformed("a class is missing"))?);
        }
        // If one part of the text has no score, the other parts do not stand for it.
        if severities.contains(&UNKNOWN) {
            continue;
        }
        let told: Vec<f64> = severities
            .into_iter()
            .map(|severity| score(severity / WORST))
            .collect::<Result<_, _>>()?;
        scores.set(*category, told.into_iter().fold(0.0, f64::max));
    }
    Ok(scores)
}

pub(super) fn of_image(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let told = classes(body)?;
    categories
        .iter()
        .map(|category| {
            let mut highest = 0.0_f64;
            for class in image_classes(*category) {
                let told = told.get(*class);
                for told in told.ok_or(ProviderError::Malformed("a class is missing"))? {
                    highest = highest.max(score(*told)?);
                }
            }
            Ok((*category, highest))
        })
        .collect()
}

/// Its classes of texts for one of our categories.
const fn text_classes(ours: Category) -> &'static [&'static str] {
    match ours {
        Category::Adult => &["sexual"],
        Category::Violence => &["violence"],
        Category::Hate => &["hate"],
        Category::SelfHarm => &["self_harm"],
        Category::Harassment => &["bullying"],
        Category::SexualMinors => &["child_exploitation"],
        Category::Illicit => &["drugs", "weapons"],
        Category::Spam => &["spam"],
    }
}

/// Its classes of images for one of our categories.
const fn image_classes(ours: Category) -> &'static [&'static str] {
    match ours {
        Category::Adult => &["general_nsfw", "yes_sexual_activity"],
        Category::Violence => &["very_bloody", "human_corpse", "yes_fight"],
        Category::Hate => &["yes_nazi", "yes_kkk", "yes_terrorist"],
        Category::SelfHarm => &["yes_self_harm", "hanging", "noose"],
        Category::Harassment | Category::SexualMinors | Category::Illicit | Category::Spam => &[],
    }
}
