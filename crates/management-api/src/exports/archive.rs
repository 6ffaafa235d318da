//! The archive of an export as an answer: a stream of whole members. The next one is built when the client has read the last.

use std::io;

use api_common::{Described, Refusal};
use bytes::Bytes;
use futures::{Stream, stream};
use management::{
    Refused,
    exports::{
        Reading,
        archive::{Cursor, NoCursor},
    },
};
use poem::{Body, IntoResponse, Response};
use poem_openapi::{
    ApiResponse,
    registry::{MetaResponses, MetaSchema, Registry},
};
use tracing::warn;

use crate::{
    Caller,
    saved_file::{binary, described, saved_file},
};

const TAR: &str = "application/x-tar";

/// Bytes that are given to the connection at once. The client has the time limit of an answer for each.
const SLICE: usize = 64 << 10;

/// A place in an archive, as a query parameter.
pub(crate) struct After(pub(super) Cursor);

impl std::str::FromStr for After {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        text.parse().map(Self)
    }
}

impl Described for After {
    fn expected() -> String {
        "the comment of a member of this archive".to_owned()
    }

    fn schema() -> MetaSchema {
        MetaSchema::new("string")
    }
}

/// The answer. Its first member is there already, so that what goes wrong at the beginning is answered as a problem.
pub(crate) struct Archive {
    first: Option<Bytes>,
    source: Source,
}

/// What further members come from.
struct Source {
    caller: Caller,
    reading: Reading,
}

impl Archive {
    pub(super) async fn begin(caller: Caller, reading: Reading) -> Result<Self, Refusal> {
        let mut source = Source { caller, reading };
        let first = source.next().await?;
        Ok(Self { first, source })
    }
}

impl Source {
    async fn next(&mut self) -> Result<Option<Bytes>, Refused> {
        let management = &self.caller.management;
        let next = self.reading.next(management, &self.caller).await?;
        Ok(next.map(Bytes::from))
    }
}

impl IntoResponse for Archive {
    fn into_response(self) -> Response {
        let name = self.source.reading.export().id;
        saved_file(
            TAR,
            &format!("{name}.tar"),
            Body::from_bytes_stream(slices(self)),
        )
    }
}

/// The members, in slices. If something fails, the stream ends early and the connection breaks.
fn slices(archive: Archive) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let Archive { first, source } = archive;
    stream::try_unfold((first, source), |(member, mut source)| async move {
        if source.reading.is_overdue() {
            return Err(io::Error::other("the archive is read too slowly"));
        }
        let member = match member {
            Some(member) => Some(member),
            None => source.next().await.map_err(|refused| {
                let export = source.reading.export().id;
                warn!(error = %refused, export.id = %export, "an archive could not be read on");
                io::Error::other("the archive could not be read on")
            })?,
        };
        let Some(mut rest) = member else {
            return Ok(None);
        };
        let slice = rest.split_to(SLICE.min(rest.len()));
        let rest = Some(rest).filter(|rest| !rest.is_empty());
        Ok(Some((slice, (rest, source))))
    })
}

impl ApiResponse for Archive {
    fn meta() -> MetaResponses {
        let description = "The archive, or its rest: a tar file of whole members.";
        described(description, &[TAR], &binary())
    }

    fn register(_registry: &mut Registry) {}
}
