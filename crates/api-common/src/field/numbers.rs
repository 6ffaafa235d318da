//! Members that are numbers: whole numbers within bounds, and scores.

use domain::{
    bounded_integer::BoundedInteger,
    score::{Category, Scores},
};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};

use super::Described;

impl<const MIN: i64, const MAX: i64> Described for BoundedInteger<MIN, MAX> {
    fn expected() -> String {
        format!("a whole number from {MIN} to {MAX}")
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "bounds are numbers that JSON holds exactly"
    )]
    fn schema() -> MetaSchema {
        MetaSchema {
            minimum: Some(MIN as f64),
            maximum: Some(MAX as f64),
            ..MetaSchema::new_with_format("integer", "int64")
        }
    }
}

impl Described for Scores {
    const NAME: Option<&str> = Some("Scores");

    fn expected() -> String {
        let names = Category::ALL.map(|category| format!("`{category}`"));
        format!(
            "an object of scores from 0 to 1 by category: {}",
            names.join(", ")
        )
    }

    fn schema() -> MetaSchema {
        let score = || MetaSchema {
            minimum: Some(0.0),
            maximum: Some(1.0),
            ..MetaSchema::new("number")
        };
        let of = |category: Category| {
            let score = MetaSchemaRef::Inline(Box::new(score()));
            (category.as_str(), score)
        };
        MetaSchema {
            description: Some("Scores from 0 to 1 by category."),
            properties: Category::ALL.map(of).into(),
            ..MetaSchema::new("object")
        }
    }
}
