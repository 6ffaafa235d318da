//! Ids and names in paths.

use poem::{Request, RequestBody, Result};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaParamIn, MetaSchemaRef},
    types::Type as _,
};
use uuid::Uuid;

use crate::problem::{Code, Refusal};

/// What a part of a path can be read as.
pub trait Segment: Sized {
    /// How the document shows it.
    fn segment_schema() -> MetaSchemaRef;

    /// Reads it. `None`: the text names nothing.
    fn read(text: &str) -> Option<Self>;
}

impl<Id: From<Uuid>> Segment for Id {
    fn segment_schema() -> MetaSchemaRef {
        Uuid::schema_ref()
    }

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().map(Uuid::into)
    }
}

/// The id or the name of a thing, as a part of the path. A text that is not a UUID is an id of
/// nothing. (poem-openapi's macro recognises path parameters by the name of this type.)
pub struct Path<Id>(pub Id);

impl<'a, Id: Segment> ApiExtractor<'a> for Path<Id> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = true;
    type ParamType = ();
    type ParamRawType = ();

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Path)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(Id::segment_schema())
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        let text = request.raw_path_param(options.name).unwrap_or_default();
        let missing = || Refusal::new(Code::NotFound, "Nothing has the id in this path.");
        Ok(Self(Id::read(text).ok_or_else(missing)?))
    }
}
