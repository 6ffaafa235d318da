-- Pairs of reviews of items that are alike (bench.pairs). The right decision about one item of each pair is known, and only one
-- person (bench.person) gets it. All are at the top of the desk, in an order that tells nothing.

create unlogged table bench.pairs as
select
    n, n % 2 = 1 as is_known, s.id as site, s.team_id as team, t.body || ' (' || n / 2 || ')' as body, t.group_versions,
    t.moderation_type, t.trace, jsonb_set(t.details, '{flagged_categories}', '["self_harm"]')::json as details,
    'author-of-pair-' || n / 2 as author, o.at, bench.id_at(o.at, 'pair ' || n) as id
from (
    -- Older than everything else.
    select n, now() - interval '10 days' + random() * interval '1 day' as at
    from generate_series(0, 2 * bench.setting('pairs') - 1) n
) o
join bench.sites s on s.number = n / 2 % (select count(*) from bench.sites)
join bench.templates t on t.number = n / 2 % (select count(*) from bench.templates);

insert into media (
    id, team_id, site_id, status, content_type, app_media_id, body, metadata, author, group_versions, verdict, created_at
)
select
    id, team, site, case when is_known then 'rejected' else 'pending_review' end, 'text', 'pair-' || n, body,
    json_build_object('author', author), author, group_versions, case when is_known then 2 else 1 end, at
from bench.pairs
order by n;

insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
select id, 1, 'pending_review', 'pending', moderation_type, details, trace, at
from bench.pairs
order by n;

insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
select id, 2, 'rejected', 'pending_review', 'manual', details, '{"reason": "No."}', at + interval '1 minute'
from bench.pairs
where is_known
order by n;

insert into golden_items (media_id, team_id, site_id, expected, added_by)
select id, team, site, 'reject', current_setting('bench.person')::uuid
from bench.pairs
where is_known;

-- One after the other, so that the two kinds are neighbours in the tables, too.
do $$
declare
    pair record;
begin
    for pair in select * from bench.pairs order by n loop
        if pair.is_known then
            -- As `crates/store/src/review/undo_expired/follow_up.rs` does it.
            insert into review_tasks (
                id, media_id, team_id, site_id, kind, verdict, severity, categories, rules, waiting_since, due_at, only_for
            )
            select
                gen_random_uuid(), pair.id, pair.team, pair.site, 'golden', 2, p.severity, f.categories, f.rules, pair.at,
                pair.at + interval '1 hour', current_setting('bench.person')::uuid
            from review_flags(pair.id) f
            cross join lateral review_urgency(pair.team, f.categories, f.rules) p;
        else
            insert into reviews (media_id, team_id, site_id, waiting_since) values (pair.id, pair.team, pair.site, pair.at);
        end if;
    end loop;
end
$$;
