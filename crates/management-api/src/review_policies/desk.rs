//! How the desk treats the items of a site.

use api_common::{Field, Json, JsonBody, Path, Refusal, Schema, given, or, or_null};
use domain::{
    id::SiteId,
    review::{AuditPercent, GoldenEvery, ReviewMinutes, UndoSeconds},
};
use management::desk;
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};

use super::super::Tag;
use crate::Caller;

/// How the desk treats the items of a site.
#[derive(Serialize, Schema)]
pub(super) struct DeskSettings {
    /// Within how many minutes a person should decide items of low severity.
    low_minutes: Field<ReviewMinutes>,
    /// The same for items of normal severity.
    normal_minutes: Field<ReviewMinutes>,
    /// The same for items of high severity.
    high_minutes: Field<ReviewMinutes>,
    /// The same for items of critical severity.
    critical_minutes: Field<ReviewMinutes>,
    /// For how many seconds a decision can be undone before it is told.
    undo_seconds: Field<UndoSeconds>,
    /// Which percentage of what one person decided is shown to a second one, who does not know that it was decided.
    audit_percent: Field<AuditPercent>,
    /// One in so many reviews is of an item whose right decision is known. `null` means none.
    #[schema(nullable)]
    golden_every: Option<Field<GoldenEvery>>,
}

impl From<desk::DeskSettings> for DeskSettings {
    fn from(settings: desk::DeskSettings) -> Self {
        Self {
            low_minutes: Field(settings.low_minutes),
            normal_minutes: Field(settings.normal_minutes),
            high_minutes: Field(settings.high_minutes),
            critical_minutes: Field(settings.critical_minutes),
            undo_seconds: Field(settings.undo_seconds),
            audit_percent: Field(settings.audit_percent),
            golden_every: settings.golden_every.map(Field),
        }
    }
}

/// Fields to change. Omitted fields keep their value.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeskSettingsChange {
    /// Within how many minutes a person should decide items of low severity.
    #[serde(default, deserialize_with = "given")]
    low_minutes: Option<Field<ReviewMinutes>>,
    /// The same for items of normal severity.
    #[serde(default, deserialize_with = "given")]
    normal_minutes: Option<Field<ReviewMinutes>>,
    /// The same for items of high severity.
    #[serde(default, deserialize_with = "given")]
    high_minutes: Option<Field<ReviewMinutes>>,
    /// The same for items of critical severity.
    #[serde(default, deserialize_with = "given")]
    critical_minutes: Option<Field<ReviewMinutes>>,
    /// For how many seconds a decision can be undone before it is told.
    #[serde(default, deserialize_with = "given")]
    undo_seconds: Option<Field<UndoSeconds>>,
    /// Which percentage of what one person decided is shown to a second one, who does not know that it was decided.
    #[serde(default, deserialize_with = "given")]
    audit_percent: Option<Field<AuditPercent>>,
    /// One in so many reviews is of an item whose right decision is known. `null` means none.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
    #[expect(clippy::option_option, reason = "absent and null are two things")]
    golden_every: Option<Option<Field<GoldenEvery>>>,
}

impl DeskSettingsChange {
    fn apply(self, settings: desk::DeskSettings) -> desk::DeskSettings {
        desk::DeskSettings {
            low_minutes: or(self.low_minutes, settings.low_minutes),
            normal_minutes: or(self.normal_minutes, settings.normal_minutes),
            high_minutes: or(self.high_minutes, settings.high_minutes),
            critical_minutes: or(self.critical_minutes, settings.critical_minutes),
            undo_seconds: or(self.undo_seconds, settings.undo_seconds),
            audit_percent: or(self.audit_percent, settings.audit_percent),
            golden_every: or_null(self.golden_every, settings.golden_every),
        }
    }
}

#[derive(Default)]
pub(crate) struct Desk;

#[OpenApi(tag = "Tag::Reviews")]
impl Desk {
    /// Read the desk settings of a site
    #[oai(
        path = "/sites/:site_id/desk",
        method = "get",
        operation_id = "getDeskSettings"
    )]
    async fn get_desk_settings(
        &self,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
    ) -> Result<Json<DeskSettings>, Refusal> {
        let settings = desk::get(&caller, site_id.0).await?;
        Ok(Json(settings.into()))
    }

    /// Change the desk settings of a site
    ///
    /// Reviews that are open keep the time when they are due.
    #[oai(
        path = "/sites/:site_id/desk",
        method = "patch",
        operation_id = "updateDeskSettings"
    )]
    async fn update_desk_settings(
        &self,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        request: JsonBody<DeskSettingsChange>,
    ) -> Result<Json<DeskSettings>, Refusal> {
        let change = request.value;
        let edit = |settings| change.apply(settings);
        let settings = desk::update(&caller, site_id.0, edit).await?;
        Ok(Json(settings.into()))
    }
}
