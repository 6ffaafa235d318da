-- What the owners of webhook endpoints see and change.

alter table webhook_endpoints
-- Deliveries go on naming it.
add column deleted_at timestamptz,
add constraint webhook_endpoints_deleted_at_check check (deleted_at is null or disabled_at is not null);

-- A site's endpoints, disabled and deleted ones included.
create index webhook_endpoints_owned_idx on webhook_endpoints (site_id, id);

-- What went to an endpoint, in the order of its events.
create index deliveries_endpoint_idx on deliveries (endpoint_id, id);
