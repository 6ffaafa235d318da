-- What the management interface needs: tokens of operators, a record of who changed what, lists of media.

-- A token without a team is an operator's: it may act in every team.
alter table management_tokens
alter column team_id drop not null,
add column name text not null default '',
add column expires_at timestamptz;

-- Scopes have names now.
update management_tokens
set scopes = array[
    'teams:read', 'teams:write', 'plans:read', 'plans:write', 'subscriptions:read', 'subscriptions:write', 'sites:read',
    'sites:write', 'keys:read', 'keys:write', 'usage:read', 'tokens:read', 'tokens:write', 'audit:read', 'media:read',
    'media:decide'
]
where scopes = array['*'];

-- Every change that somebody made. Append-only.
create table audit_log (
    id uuid primary key,
    -- The team concerned; none where all are.
    team_id uuid,
    actor text not null
    constraint audit_log_actor_check check (actor in ('token', 'command_line')),
    -- The token.
    actor_id uuid,
    -- What was done, as noun and verb: site.update, media.decide.
    action text not null,
    target_id uuid,
    -- What changed; never a secret, never content.
    details json not null,
    request_id text,
    occurred_at timestamptz not null default now(),
    constraint audit_log_actor_id_check check ((actor_id is not null) = (actor = 'token'))
);

create index audit_log_team_id_idx on audit_log (team_id, id);
create index audit_log_target_id_idx on audit_log (target_id, id);

-- Rows come in the order of time, so this tells where a time is at nearly no cost.
create index audit_log_occurred_at_idx on audit_log using brin (occurred_at);

-- Lists of a site's media, newest first.
create index media_site_id_idx on media (site_id, id);

-- By the application's own identifier, which may be too long for an index.
create index media_app_media_id_idx on media (site_id, hashtextextended(app_media_id, 0))
where app_media_id is not null;

-- Lists of what waits for a person, oldest first.
create index reviews_site_id_idx on reviews (site_id, media_id);
