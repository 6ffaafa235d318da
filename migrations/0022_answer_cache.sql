-- What providers said of whole texts, for equal texts of the same site.

-- For how many seconds an answer may be used again. Null: none is kept, and nobody looks for one.
alter table sites
add column answer_cache_seconds integer,
add constraint sites_answer_cache_seconds_check check (answer_cache_seconds between 1 and 604800);

create table cached_answers (
    team_id uuid not null,
    -- Its place in the team's ring, see answer_rings.
    slot integer not null,
    site_id uuid not null,
    -- SHA-256 of the text, of what was asked, and of the provider's configuration.
    key bytea not null,
    -- The item whose analysis brought it. Without that item, or its text, the answer is never used.
    media_id uuid not null,
    -- Category to score.
    scores json not null,
    created_at timestamptz not null,
    constraint cached_answers_pkey primary key (team_id, slot),
    constraint cached_answers_key_check check (octet_length(key) = 32)
);

create index cached_answers_key_idx on cached_answers (site_id, key, created_at);
create index cached_answers_created_at_idx on cached_answers (site_id, created_at);
create index cached_answers_media_id_idx on cached_answers (media_id);

-- A team has so many slots. The next answer takes the next slot, and with it the place of the team's oldest answer.
create table answer_rings (
    team_id uuid primary key,
    -- The slot that the last answer took.
    slot integer not null
);

-- Answers go with the items that brought them, and with their texts. No foreign key: the table of items is hot, and this costs only
-- those who delete.
create function forget_answers_of_deleted() returns trigger language plpgsql as $$
begin
    delete from cached_answers a using deleted d where a.media_id = d.id;
    return null;
end
$$;

create trigger media_forget_answers_of_deleted
after delete on media
referencing old table as deleted
for each statement execute function forget_answers_of_deleted();

create function forget_answers() returns trigger language plpgsql as $$
begin
    delete from cached_answers where media_id = new.id;
    return null;
end
$$;

create trigger media_forget_answers
after update of body on media
for each row when (new.body is distinct from old.body)
execute function forget_answers();
