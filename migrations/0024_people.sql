-- People: who signs in with a password, and what each may do in which team.

-- Somebody who can sign in.
create table users (
    id uuid primary key,
    -- In lower case: people never differ by case alone.
    email text not null
    constraint users_email_check check (email = lower(email)),
    name text not null,
    -- Argon2id, as a PHC string, which names the parameters.
    password_hash text not null,
    password_changed_at timestamptz not null default now(),
    created_at timestamptz not null default now(),
    constraint users_email_key unique (email)
);

-- What a person is in a team. The id is the actor of what the person does there, so rows stay.
create table memberships (
    id uuid primary key,
    user_id uuid not null references users (id),
    -- Null: the person is an operator, who belongs to no team.
    team_id uuid references teams (id),
    role text not null
    constraint memberships_role_check check (role in ('viewer', 'moderator', 'lead', 'admin', 'owner', 'operator')),
    -- The sites on which a moderator decides. Null: on all.
    site_ids uuid [],
    created_at timestamptz not null default now(),
    disabled_at timestamptz,
    constraint memberships_user_id_key unique nulls not distinct (user_id, team_id),
    constraint memberships_operator_check check ((role = 'operator') = (team_id is null)),
    constraint memberships_site_ids_check check (site_ids is null or role = 'moderator')
);

create index memberships_team_id_idx on memberships (team_id, id);

create function add_member_as_actor() returns trigger language plpgsql as $$
begin
    insert into actors (id, kind, team_id) values (new.id, 'member', new.team_id);
    return null;
end
$$;

create trigger memberships_add_actor
after insert on memberships
for each row execute function add_member_as_actor();

-- A team's people who need no second factor by their role need one if this is set.
alter table teams
add column factor_required boolean not null default false;

-- What an authenticator app and Gatehouse share.
create table factors (
    user_id uuid primary key references users (id),
    -- Sealed with the master key: key id, nonce and ciphertext.
    secret bytea not null,
    created_at timestamptz not null default now(),
    -- When the first code was given. Before, it is no factor.
    confirmed_at timestamptz,
    -- The period of 30 seconds whose code was the last one that was accepted. Neither it nor an earlier one is accepted again.
    last_step bigint not null default 0
);

-- What stands in for the second factor, once each.
create table recovery_codes (
    user_id uuid not null references users (id),
    -- SHA-256 of the person's id and the code, which has 80 random bits.
    hash bytea not null,
    used_at timestamptz,
    constraint recovery_codes_pkey primary key (user_id, hash)
);

-- Sign-ins that are not over. A session that was ended has no row.
create table sessions (
    id uuid primary key,
    user_id uuid not null references users (id),
    -- SHA-256 of what the browser holds.
    hash bytea not null,
    created_at timestamptz not null default now(),
    -- To the minute.
    used_at timestamptz not null default now(),
    -- When the password was given last.
    password_at timestamptz not null default now(),
    -- When the second factor was given. Null: not yet, or there is none.
    factor_at timestamptz,
    -- Wrong codes of the second factor.
    failed_codes smallint not null default 0,
    -- From where, and with what.
    address text not null,
    user_agent text not null,
    constraint sessions_hash_key unique (hash)
);

create index sessions_user_id_idx on sessions (user_id, id);
create index sessions_created_at_idx on sessions (created_at);

-- Links that are used once: invitations, and ways to a new password. Whoever makes one hands it over.
create table links (
    id uuid primary key,
    kind text not null
    constraint links_kind_check check (kind in ('invitation', 'reset')),
    -- SHA-256 of the secret that the link has in it.
    hash bytea not null,
    -- Of an invitation: null for an operator's.
    team_id uuid references teams (id),
    email text,
    role text,
    site_ids uuid [],
    -- Of a way to a new password: whose.
    user_id uuid references users (id),
    -- Who made it, as in the audit log.
    creator text not null,
    created_by uuid,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    used_at timestamptz,
    cancelled_at timestamptz,
    constraint links_hash_key unique (hash),
    constraint links_invitation_check check ((kind = 'invitation') = (email is not null and role is not null)),
    constraint links_reset_check check ((kind = 'reset') = (user_id is not null))
);

create index links_team_id_idx on links (team_id, id);
create index links_user_id_idx on links (user_id) where user_id is not null;
create index links_created_by_idx on links (created_by) where created_by is not null;

-- How often an address tried an account in vain. Accounts that do not exist have rows, too.
create table sign_in_failures (
    -- SHA-256 of account and address, so that neither can be read here.
    key bytea primary key,
    failures integer not null,
    last_at timestamptz not null
);

create index sign_in_failures_last_at_idx on sign_in_failures (last_at);
