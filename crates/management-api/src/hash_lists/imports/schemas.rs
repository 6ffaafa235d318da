//! Imports in requests and responses.

use api_common::field::{Field, Time};
use domain::{chain::State, id::ActorId, image_hash::HashAlgorithm};
use poem_openapi::Object;
use serde::Serialize;
use store::hash_list::import;
use uuid::Uuid;

/// A file of hashes that is read into a list.
#[derive(Serialize, Object)]
pub(crate) struct HashImport {
    /// The ID of the import.
    id: Uuid,
    /// The hash list.
    hash_list_id: Uuid,
    /// The kind of hash in lines that do not name it.
    algorithm: Field<HashAlgorithm>,
    /// The state of the import.
    state: Field<State>,
    /// How many lines the file has.
    total_lines: i64,
    /// How many lines were read.
    lines: i64,
    /// The number of hashes that were added.
    added: i64,
    /// The number of hashes that were on the list already, or in an earlier line.
    existing: i64,
    /// The number of lines that were refused.
    refused: i64,
    /// Why it failed. `null` if it has not failed.
    #[oai(nullable)]
    error: Option<String>,
    /// The token that started it.
    #[oai(nullable)]
    created_by: Option<Uuid>,
    /// When it was started.
    created_at: Field<Time>,
    /// When it ended. `null` while it runs.
    #[oai(nullable)]
    ended_at: Option<Field<Time>>,
}

impl From<import::Import> for HashImport {
    fn from(import: import::Import) -> Self {
        Self {
            id: import.id.as_uuid(),
            hash_list_id: import.list.as_uuid(),
            algorithm: Field(import.algorithm),
            state: Field(import.state),
            total_lines: import.total_lines,
            lines: import.lines,
            added: import.added,
            existing: import.existing,
            refused: import.refused,
            error: import.error,
            created_by: import.created_by.map(ActorId::as_uuid),
            created_at: import.created_at.into(),
            ended_at: import.ended_at.map(Field::from),
        }
    }
}

/// A line of a file that was refused.
#[derive(Serialize, Object)]
pub(crate) struct HashImportRefusal {
    /// The number of the line in the file, from 1.
    line: i64,
    /// What is wrong with the line.
    message: String,
}

impl From<import::Refused> for HashImportRefusal {
    fn from(refused: import::Refused) -> Self {
        Self {
            line: refused.line,
            message: refused.reason,
        }
    }
}
