-- Accounts that change hands: what can sign in to an account, and what proves whose address it has.

alter table identities
-- By which pages and the audit log name it. Older binaries give it none.
add column id uuid not null default gen_random_uuid(),
-- The address at the provider, as it was told last. Null: it was not told, or only to an older binary.
add column email text,
-- When the person signed in with it last.
add column last_used_at timestamptz,
-- When the provider first called the address of the account verified.
add column proven_at timestamptz,
add constraint identities_id_key unique (id);

-- The provider made these accounts, and their addresses come from it.
update identities
set proven_at = identities.created_at
from users
where users.id = identities.user_id and users.created_at = identities.created_at;

alter table sessions
-- With which identity the person signed in. Null: with a password, or at an older binary.
add column identity_id uuid references identities (id) on delete cascade;

create index sessions_identity_id_idx on sessions (identity_id) where identity_id is not null;
