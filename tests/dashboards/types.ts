// What a dashboard of ours may hold: the types of Grafana's own schema, and of our kinds of panels exactly. Grafana's enums are
// strings in JSON.
import type { common, Dashboard, DataSourceRef, FieldConfig, FieldConfigSource, Panel as AnyPanel, RowPanel } from "./grafana";
import type { Options as StatOptions } from "@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen.js";
import type { Options as TableOptions } from "@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen.js";
import type { Options as GraphOptions } from "@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen.js";

type Plain<T> = T extends string ? `${T}` : T extends number | boolean | null | undefined ? T
  : T extends Array<infer U> ? Plain<U>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;

type Query =
  | { refId: string; datasource: DataSourceRef; expr: string; legendFormat: string; instant?: boolean; range?: boolean; format?: "table" }
  | { refId: string; datasource: DataSourceRef; rawSql: string; rawQuery: true; editorMode: "code"; format: "table" };
type Link = { title: string; url: string; targetBlank: boolean };
type Fields<Custom> = Omit<FieldConfigSource, "defaults"> & { defaults: Omit<FieldConfig, "custom"> & { noValue?: string; custom?: Custom } };
type Of<Type, Options, Custom> = Omit<AnyPanel, "type" | "options" | "links" | "targets" | "fieldConfig">
  & { type: Type; options: Options; links: Link[]; targets: Query[]; fieldConfig: Fields<Custom> };

type Panel =
  | Of<"stat", StatOptions, never>
  | Of<"timeseries", Omit<GraphOptions, "legend" | "tooltip"> & { legend: common.VizLegendOptions; tooltip: Omit<common.VizTooltipOptions, "hideZeros"> }, common.GraphFieldConfig>
  | Of<"table", TableOptions, { align: "auto" }>;
type Annotations = { list: (NonNullable<NonNullable<Dashboard["annotations"]>["list"]>[number]
  & { expr: string; step: string; titleFormat: string; textFormat: string })[] };

export type Ours = Plain<Omit<Dashboard, "panels" | "annotations"> & { panels: (Panel | RowPanel)[]; annotations: Annotations }>;
