// Types of @grafana/schema.
export type { Dashboard, DataSourceRef, FieldConfig, FieldConfigSource, Panel, RowPanel } from "@grafana/schema/dist/esm/raw/dashboard/x/dashboard_types.gen.js";
export type * as common from "@grafana/schema/dist/esm/common/common.gen.js";
