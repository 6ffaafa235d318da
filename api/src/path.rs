//! Ids in paths.

use poem::{Request, RequestBody, Result};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaParamIn, MetaSchemaRef},
    types::Type as _,
};
use uuid::Uuid;

use crate::problem::{Code, Refusal};

/// The id of a thing, as a part of the path. A text that is not a UUID is an id of nothing.
/// (poem-openapi's macro recognises path parameters by the name of this type.)
pub(crate) struct Path<Id>(pub(crate) Id);

impl<'a, Id: From<Uuid>> ApiExtractor<'a> for Path<Id> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = true;
    type ParamType = ();
    type ParamRawType = ();

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Path)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(Uuid::schema_ref())
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        options: ExtractParamOptions<()>,
    ) -> Result<Self> {
        let text = request.raw_path_param(options.name).unwrap_or_default();
        let id: Uuid = text
            .parse()
            .map_err(|_| Refusal::new(Code::NotFound, "The id in this path is no UUID."))?;
        Ok(Self(id.into()))
    }
}
