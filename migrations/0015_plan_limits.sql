-- What a plan limits beyond the requests of a key: how many things a team may have, how many requests all its keys may make
-- together, and how many webhooks its submissions may cause. Every new column has a default that older binaries can live with.

alter table plans
add column endpoints_per_site integer not null default 10
constraint plans_endpoints_per_site_check check (endpoints_per_site between 0 and 100),
add column sites_per_team integer not null default 100
constraint plans_sites_per_team_check check (sites_per_team between 0 and 100000),
add column site_keys_per_team integer not null default 200
constraint plans_site_keys_per_team_check check (site_keys_per_team between 0 and 100000),
add column management_tokens_per_team integer not null default 100
constraint plans_management_tokens_per_team_check check (management_tokens_per_team between 0 and 100000),
add column rule_groups_per_team integer not null default 200
constraint plans_rule_groups_per_team_check check (rule_groups_per_team between 0 and 100000),
add column hash_lists_per_team integer not null default 100
constraint plans_hash_lists_per_team_check check (hash_lists_per_team between 0 and 1000),
-- Of all keys of a team together in each UTC minute; null is ten times what each key may make.
add column team_submissions_per_minute integer
constraint plans_team_submissions_per_minute_check check (team_submissions_per_minute between 1 and 10000000),
add column team_status_queries_per_minute integer
constraint plans_team_status_queries_per_minute_check check (team_status_queries_per_minute between 1 and 10000000),
-- Webhooks that a team's submissions cause in a billing period; null is no limit.
add column deliveries_per_period bigint
constraint plans_deliveries_per_period_check check (deliveries_per_period >= 0);

-- What the statement that accepts submissions books beside these.
alter table usage
add column deliveries bigint not null default 0,
-- The plan's, at the last booking; null is no limit.
add column delivery_quota bigint;

-- A window of requests is a site key's or, since now, a team's. Ids are unique over both, and the column keeps its name for the
-- binaries that know it by that.
comment on column rate_windows.site_key_id is 'a site key, or a team: the window of all its keys together';

-- Counting what a team has must not read what others have.
create index management_tokens_team_id_idx on management_tokens (team_id) where disabled_at is null;
