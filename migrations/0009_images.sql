-- A row for every image of an item, whether it was sent along or fetched: its bytes as long as they are kept, and what is known
-- of it.

alter table media_images
-- None: there never was a file of a format that is taken.
alter column format drop not null,
-- None: there never were any, or they have been removed.
alter column bytes drop not null,
-- The item's site; none in rows that an earlier version has written.
add column site_id uuid,
-- Pixels; none if it was not decoded.
add column width integer,
add column height integer,
-- Of the file as it was submitted. Together with the rest of what follows, it is none until the image was examined.
add column sha256 bytea
constraint media_images_sha256_check check (octet_length(sha256) = 32),
-- Of the picture, if its quality is worth comparing.
add column pdq bytea
constraint media_images_pdq_check check (octet_length(pdq) = 32),
add column pdq_quality smallint
constraint media_images_pdq_quality_check check (pdq_quality between 0 and 100),
-- Why it could not be analysed.
add column problem text
constraint media_images_problem_check check (problem in ('not_fetched', 'too_large', 'unsupported', 'undecodable'));

update media_images i
set site_id = m.site_id
from media m
where m.id = i.media_id;

-- What may have to be removed, site by site, the oldest first.
create index media_images_kept_idx on media_images (site_id, media_id) where bytes is not null;

alter table sites
-- How long the bytes of images are kept after the last verdict.
add column image_retention_days integer not null default 30
constraint sites_image_retention_days_check check (image_retention_days between 0 and 3650);
