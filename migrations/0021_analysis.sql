-- Which categories nobody scored of the text and of the image, and which of them a provider was asked for and left out. Null: an
-- older binary analysed it, or the analysis did not come to its end.
alter table analyses add column gaps json;

-- A limit that requests to a provider met, for all workers together. Smaller requests than the one that met it go on. Older
-- binaries mind paused_until and the breaker only.
alter table provider_states
-- Bytes of the smallest request that is held back.
add column limit_from_bytes integer not null default 0,
-- How often in a row it was met, and how many requests passed since, one after the other.
add column limit_met integer not null default 0,
add column limit_passed integer not null default 0,
-- Until when requests are held back; after that one at a time may try, until enough of them passed. Null: nothing is held back.
add column limit_until timestamptz,
-- The lease of the request that tries.
add column limit_probe_until timestamptz;

-- What a provider said of single pieces of a long text, or of single frames of an animation, whose analysis is not complete:
-- nobody pays for a piece or a frame twice. The finished analysis takes the place of these.
create table analysis_pieces (
    media_id uuid not null,
    provider text not null,
    -- A piece of the text, or a frame of the image.
    modality text not null,
    -- Where the piece begins, in bytes of the text, and its length; or the frame's number, and 1.
    start integer not null,
    length integer not null,
    -- What was asked for.
    categories text [] not null,
    -- Category to score.
    scores json not null,
    -- What it answered, as far as it is kept.
    raw text,
    constraint analysis_pieces_pkey primary key (media_id, provider, modality, start, length),
    constraint analysis_pieces_modality_check check (modality in ('text', 'image'))
);
