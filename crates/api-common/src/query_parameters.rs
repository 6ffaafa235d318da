//! Query parameters: each can be given once, and an operation refuses those that it does not have.

use std::{
    marker::PhantomData,
    str::FromStr,
    sync::{Arc, Mutex, PoisonError},
};

use poem::{Request, RequestBody, Result};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaParamIn, MetaSchemaRef, Registry},
    types::Type,
};

use crate::{
    field::Described,
    problem::{FieldProblem, Refusal},
};

/// A parameter as text, if it was given. The document describes it as a required `Shape`.
pub struct QueryField<Shape> {
    /// The value, decoded.
    pub text: Option<String>,
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

/// An optional parameter, read as a `T`.
pub struct Query<T>(pub Option<T>);

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

/// The parameters that an operation has. It asks for them one after the other, before it begins.
/// The router adds one list to each request with a query.
#[derive(Clone, Default)]
pub(crate) struct Taken(Arc<Mutex<Vec<&'static str>>>);

/// The parameters of a request, to compare with those of its operation.
pub struct Parameters {
    /// Each once, in their order, up to a limit.
    given: Vec<String>,
    taken: Taken,
}

impl Parameters {
    /// How many unknown parameters are reported, and how many characters of each.
    const TOLD: usize = 20;
    const LONGEST_TOLD: usize = 100;

    /// The parameters of a request. `None` if it has no query.
    pub fn of(request: &Request) -> Result<Option<Self>> {
        let Some(taken) = request.data::<Taken>() else {
            return Ok(None);
        };
        let pairs: Vec<(String, String)> = request.params()?;
        let mut given: Vec<String> = Vec::new();
        for (name, _) in pairs {
            if given.len() < Self::MOST && !given.contains(&name) {
                given.push(name);
            }
        }
        Ok(Some(Self {
            given,
            taken: taken.clone(),
        }))
    }

    /// More than any operation has.
    const MOST: usize = 50;

    /// The problems with parameters that the operation does not have.
    pub fn not_taken(&self) -> Vec<FieldProblem> {
        let taken = self.taken.0.lock().unwrap_or_else(PoisonError::into_inner);
        let unknown = self.given.iter();
        let unknown = unknown.filter(|name| !taken.contains(&name.as_str()));
        let names: Vec<String> = taken.iter().map(|name| format!("`{name}`")).collect();
        let all = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        let problems = unknown.take(Self::TOLD).map(|name| FieldProblem {
            field: name.chars().take(Self::LONGEST_TOLD).collect(),
            message: format!("is no parameter of this operation, which takes {all}"),
            position: None,
        });
        problems.collect()
    }
}

/// A parameter that is given twice is refused, because a proxy or another reader could use the
/// other value.
pub fn given_once(request: &Request, name: &'static str) -> Result<Option<String>> {
    if let Some(Taken(taken)) = request.data() {
        taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(name);
    }
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
