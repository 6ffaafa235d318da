-- Texts and images are analysed apart. What older binaries read and write stays as it is.

-- Whether providers scored the image: true; false if they looked at it and could not; null if none has looked at it, as with
-- every analysis that an older binary stores.
alter table analyses add column image_scored boolean;

-- What providers said of the image of an item whose analysis is not complete. Not in analysis_parts: an older binary that goes on
-- with the item would take the image's scores for the text's.
create table analysis_image_parts (
    media_id uuid not null,
    provider text not null,
    -- Category to score; null if the provider failed for good.
    scores json,
    -- As in analyses.providers.
    report json not null,
    constraint analysis_image_parts_pkey primary key (media_id, provider)
);

-- What a provider can score of images; categories is what it can score of texts.
alter table providers add column image_categories text [] not null default '{}';
