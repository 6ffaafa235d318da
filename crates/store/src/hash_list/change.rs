//! Changing what a list is called and how it compares.

use domain::id::HashListId;
use sqlx::PgConnection;

use super::{NAME_KEY, distance};
use crate::Error;

/// Fields of a list to change. `None` keeps the value.
#[derive(Clone, Copy, Debug, Default)]
pub struct HashListChange<'a> {
    /// Its new name.
    pub name: Option<&'a str>,
    /// Its new description.
    pub description: Option<&'a str>,
    /// The most bits in which the PDQ of a picture that is on it may differ, up to 31.
    pub max_distance: Option<u32>,
}

/// Changes a list. Run it in a transaction that has locked it.
///
/// # Errors
/// [`Error::NameTaken`].
pub async fn change(
    conn: &mut PgConnection,
    list: HashListId,
    change: HashListChange<'_>,
) -> Result<(), Error> {
    sqlx::query!(
        "
        update hash_lists
        set
            name = coalesce($2, name),
            description = coalesce($3, description),
            max_distance = coalesce($4, max_distance)
        where id = $1
        ",
        list.as_uuid(),
        change.name,
        change.description,
        change.max_distance.map(distance),
    )
    .execute(conn)
    .await
    .map_err(Error::on_violation(NAME_KEY, Error::NameTaken))?;
    Ok(())
}
