//! JSON that passes through unread and unchanged, but is described in the document.

use std::{borrow::Cow, marker::PhantomData};

use poem_openapi::{
    registry::{MetaSchemaRef, Registry},
    types::Type,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Raw JSON that the document describes as a `Shape`.
#[derive(Serialize, Deserialize)]
#[serde(transparent, bound = "")]
pub struct RawJson<Shape> {
    /// The JSON.
    pub json: Box<RawValue>,
    #[serde(skip)]
    shape: PhantomData<fn() -> Shape>,
}

impl<Shape> From<Box<RawValue>> for RawJson<Shape> {
    fn from(json: Box<RawValue>) -> Self {
        Self {
            json,
            shape: PhantomData,
        }
    }
}

impl<Shape: Type> Type for RawJson<Shape> {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        Shape::name()
    }

    fn schema_ref() -> MetaSchemaRef {
        Shape::schema_ref()
    }

    fn register(registry: &mut Registry) {
        Shape::register(registry);
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(self.as_raw_value().into_iter())
    }
}
