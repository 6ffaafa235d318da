-- Single sign-on: people whom a provider of OpenID Connect knows, and what it grants them.

-- Who an account is at a provider. The pair never changes and is never given to another person; an e-mail address may be.
create table identities (
    issuer text not null,
    subject text not null,
    user_id uuid not null references users (id),
    created_at timestamptz not null default now(),
    constraint identities_pkey primary key (issuer, subject),
    constraint identities_user_id_key unique (user_id, issuer)
);

-- Attempts to sign in that have succeeded. Each succeeds once; they are forgotten when they would be too old.
create table sign_on_attempts (
    -- SHA-256 of the attempt's state.
    key bytea primary key,
    used_at timestamptz not null default now()
);

create index sign_on_attempts_used_at_idx on sign_on_attempts (used_at);

-- Without one, the person signs in with the provider only. The hash is then that of a random text that nobody knows.
alter table users
add column has_password boolean not null default true;

-- Whether the provider granted it last, or took it away last. The provider does not touch what people gave or took by hand.
alter table memberships
add column by_provider boolean not null default false;

-- Whether the person signed in with the provider. Only then is what the provider grants of use.
alter table sessions
add column by_provider boolean not null default false;
