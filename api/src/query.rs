//! Query parameters that may be given once.

use std::{marker::PhantomData, str::FromStr};

use poem::{Request, RequestBody, Result};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaParamIn, MetaSchemaRef, Registry},
    types::Type,
};

use crate::{member::Described, problem::Refusal};

/// A parameter as text, if it was given; the document describes it as a required `Shape`.
pub(crate) struct QueryField<Shape> {
    pub(crate) text: Option<String>,
    shape: PhantomData<fn() -> Shape>,
}

impl<'a, Shape: Type> ApiExtractor<'a> for QueryField<Shape> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = true;
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        Shape::register(registry);
    }

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Query)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(Shape::schema_ref())
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        Ok(Self {
            text: given_once(request, options.name)?,
            shape: PhantomData,
        })
    }
}

/// A parameter that need not be given, read as a `T`.
pub(crate) struct Query<T>(pub(crate) Option<T>);

impl<'a, T: Described + FromStr> ApiExtractor<'a> for Query<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::declare(registry);
    }

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Query)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(T::reference())
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        let value = given_once(request, options.name)?.map(|text| {
            text.parse().map_err(|_| {
                Refusal::invalid_field(options.name, format!("must be {}", T::expected()))
            })
        });
        Ok(Self(value.transpose()?))
    }
}

/// Given twice it is refused, since whoever reads the request before or after us may take the other one.
fn given_once(request: &Request, name: &str) -> Result<Option<String>> {
    let pairs: Vec<(String, String)> = request.params()?;
    let mut given = pairs
        .into_iter()
        .filter(|(given, _)| given == name)
        .map(|(_, value)| value);
    let text = given.next();
    if given.next().is_some() {
        return Err(Refusal::invalid_field(name, "is given twice in the query").into());
    }
    Ok(text)
}
