-- Some items that wait for a person (bench.first to bench.last), over the last two days. A trigger opens their reviews, as it does
-- for the items of the service. It runs again for the next ones.

create unlogged table bench.batch as
select
    d.n, d.at, s.id as site, s.team_id as team, bench.id_at(d.at, 'item ' || d.n) as id, t.body, t.group_versions,
    t.moderation_type, t.trace, 'author-' || floor(20000 * random() ^ 3) as author,
    jsonb_set(t.details, '{flagged_categories}', jsonb_build_array(c.category))::json as details
from (
    select
        n, now() - interval '2 days' * (1 - n::float8 / bench.setting('items')) as at,
        floor((select count(*) from bench.sites) * random() ^ 2) as site,
        floor((select count(*) from bench.templates) * random()) as template, floor(6 * random()) as category
    from generate_series(bench.setting('first'), bench.setting('last')) n
) d
join bench.sites s on s.number = d.site
join bench.templates t on t.number = d.template
join bench.categories c on c.number = d.category;

insert into media (
    id, team_id, site_id, status, content_type, app_media_id, body, metadata, author, group_versions, verdict, created_at
)
select
    id, team, site, 'pending_review', 'text', 'item-' || n, body || ' (' || n || ')',
    json_build_object('author', author, 'listing', n), author, group_versions, 1, at
from bench.batch
order by n;

insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
select id, 1, 'pending_review', 'pending', moderation_type, details, trace, at + interval '50 milliseconds'
from bench.batch
order by n;

insert into reviews (media_id, team_id, site_id, waiting_since)
select id, team, site, at + interval '50 milliseconds'
from bench.batch
order by n;

drop table bench.batch;
