-- Erasures: everything that is stored about some items is removed, slice by slice, and a signed certificate says so.

alter table media
-- When it was erased. What is left then is a tombstone: ids, times, the verdict. An item without a verdict has the status `rejected`
-- from then on, so that no work that is on its way touches it, and is deleted soon.
add column erased_at timestamptz;

-- Keys that sign certificates. There is one.
create table signing_keys (
    id uuid primary key,
    singleton boolean not null default true unique check (singleton),
    -- Ed25519, PKCS#8, sealed with the master key.
    sealed bytea not null,
    public_key bytea not null
    constraint signing_keys_public_key_check check (octet_length(public_key) = 32),
    created_at timestamptz not null default now()
);

create table erasures (
    id uuid primary key,
    team_id uuid not null,
    -- Only items of this site. Null: of all sites of the team.
    site_id uuid,
    kind text not null,
    -- Which items. It may name a person, so it is removed when the erasure has ended. Of items that were named by their ids, those of the
    -- team are left.
    subject json,
    -- What was asked for, for the certificate: SHA-256 of this salt and the subject.
    salt bytea not null,
    subject_sha256 bytea not null
    constraint erasures_subject_sha256_check check (octet_length(subject_sha256) = 32),
    state text not null default 'running'
    constraint erasures_state_check check (state in ('running', 'finished', 'cancelled', 'failed')),
    -- Slices that were done.
    walked_to bigint not null default 0,
    -- First what is known of the items is removed; when all work of that time has ended, it is removed again, in case that work has
    -- added to it; then the certificate is made.
    phase text not null default 'remove'
    constraint erasures_phase_check check (phase in ('remove', 'again', 'certify')),
    -- The site whose items are looked at, or were looked at last. Null: none yet.
    walk_site uuid,
    -- Its items up to this one were looked at. Null: all.
    walk_item uuid,
    -- The second phase begins when all transactions up to this one have ended.
    again_after xid8,
    -- See `Counts` and `ItemsDigest` in domain/src/erasure.rs.
    counts json not null default '{}',
    items_digest bytea not null default decode(repeat('00', 32), 'hex')
    constraint erasures_items_digest_check check (octet_length(items_digest) = 32),
    -- A JSON web signature.
    certificate text,
    created_by uuid,
    created_at timestamptz not null default now(),
    ended_at timestamptz,
    -- Why it failed.
    error text
);

create index erasures_team_id_idx on erasures (team_id, id);
create index erasures_running_idx on erasures (team_id) where state = 'running';

-- Items whose first phase is done.
create table erased_items (
    erasure_id uuid not null,
    media_id uuid not null,
    constraint erased_items_pkey primary key (erasure_id, media_id)
);
