-- Pages that forms lead to, or that are far behind the first one: who asks for it, what is special about it, and its path. The
-- pages that links lead to are found by following the links.
with team as (
    select '/t/' || team_id || '/' as path from bench.sites limit 1
),
sites as (
    select
        max(id::text) filter (where number = 0) as busy, max(id::text) filter (where number = 18) as quiet,
        max(id::text) filter (where number = 19) as empty, max(endpoint::text) filter (where number = 0) as endpoint,
        max(endpoint::text) filter (where number = 3) as failing, max(endpoint::text) filter (where number = 19) as unused
    from bench.sites
),
house as (
    select
        h.id::text as id, v.rules -> 0 ->> 'id' as often, v.rules -> 79 ->> 'id' as rare, v.rules -> 90 ->> 'id' as never,
        v.id::text as first, g.live_version_id::text as live, h.team_id
    from bench.house h
    join rule_groups g on g.id = h.id
    join rule_group_versions v on v.id = h.first
),
times as (
    select
        t.name, bench.id_at(bench.now() - t.age, 'x')::text as id,
        to_char((bench.now() - t.age) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI') as minute,
        to_char((bench.now() - t.age) at time zone 'UTC', 'YYYY-MM-DD') as day
    from (
        values ('hours', interval '12 hours'), ('day', interval '1 day'), ('half', interval '15 days'), ('deep', interval '29 days'),
            ('before', interval '400 days')
    ) t (name, age)
),
at as (
    select
        max(id) filter (where name = 'hours') as hours_id, max(id) filter (where name = 'day') as day_id,
        max(id) filter (where name = 'half') as half_id, max(id) filter (where name = 'deep') as deep_id,
        max(minute) filter (where name = 'day') as day, max(minute) filter (where name = 'half') as half,
        max(minute) filter (where name = 'deep') as deep, max(minute) filter (where name = 'before') as before,
        max(day) filter (where name = 'half') as half_date, max(day) filter (where name = 'before') as before_date
    from times
),
ids as (
    select
        (
            select m.id::text from media m join house h on h.team_id = m.team_id
            where m.id < bench.id_at(bench.now() - interval '20 days', '') order by m.id desc limit 1
        ) as old_item,
        (select m.id::text from media m join deliveries d on d.event_id = bench.acceptance_of(m.id) order by m.id desc limit 1) as told_item,
        (select media_id::text from reviews r join house h on h.team_id = r.team_id order by media_id limit 1) as waiting_item,
        (select media_id::text from verdicts where number = 2 limit 1) as decided_item,
        (select media_id::text from image_matches limit 1) as matched_item,
        (select id::text from deliveries where state = 'exhausted' limit 1) as failed_delivery,
        (select id::text from bench.lists where number = 1) as list,
        (select encode(e.pdq, 'hex') from hash_entries e join bench.lists l on l.id = e.list_id where l.number = 1 limit 1) as pdq,
        (select encode(e.sha256, 'hex') from hash_entries e join bench.lists l on l.id = e.list_id where l.number = 1 and e.sha256 is not null limit 1)
            as sha256,
        (select member::text from bench.people where number = 5) as member
    from (select) x
),
nobody as (
    select '01990000-0000-7000-8000-ffffffffffff' as id
)
select p.who, p.special, p.path
from team, sites, house, at, ids, nobody
cross join lateral (
    values
    ('owner', 'status pending', team.path || 'items?status=pending'),
    ('owner', 'status approved', team.path || 'items?status=approved'),
    ('owner', 'status rejected', team.path || 'items?status=rejected'),
    ('owner', 'status pending_review', team.path || 'items?status=pending_review'),
    ('owner', 'pending, old', team.path || 'items?status=pending&after=' || at.half_id),
    ('owner', 'pending_review, old', team.path || 'items?status=pending_review&after=' || at.half_id),
    ('owner', 'busiest site', team.path || 'items?site=' || sites.busy),
    ('owner', 'quiet site', team.path || 'items?site=' || sites.quiet),
    ('owner', 'empty site', team.path || 'items?site=' || sites.empty),
    ('owner', 'busiest site, rejected', team.path || 'items?status=rejected&site=' || sites.busy),
    ('owner', 'busiest site, pending', team.path || 'items?status=pending&site=' || sites.busy),
    ('owner', 'rule that matches often', team.path || 'items?rule_id=' || house.often),
    ('owner', 'rule that matched once', team.path || 'items?rule_id=' || house.rare),
    ('owner', 'rule that never matched', team.path || 'items?rule_id=' || house.never),
    ('owner', 'rule that matched once, deep', team.path || 'items?rule_id=' || house.rare || '&after=' || at.half_id),
    ('owner', 'rule that never matched, busiest site', team.path || 'items?rule_id=' || house.never || '&site=' || sites.busy),
    ('owner', 'rule that never matched, waiting', team.path || 'items?status=pending_review&rule_id=' || house.never),
    ('owner', 'category adult', team.path || 'items?category=adult'),
    ('owner', 'category violence', team.path || 'items?category=violence'),
    ('owner', 'category hate', team.path || 'items?category=hate'),
    ('owner', 'category self_harm', team.path || 'items?category=self_harm'),
    ('owner', 'category harassment', team.path || 'items?category=harassment'),
    ('owner', 'category sexual_minors', team.path || 'items?category=sexual_minors'),
    ('owner', 'category illicit', team.path || 'items?category=illicit'),
    ('owner', 'category spam', team.path || 'items?category=spam'),
    ('owner', 'category adult, busiest site, rejected', team.path || 'items?category=adult&status=rejected&site=' || sites.busy),
    ('owner', 'author of many', team.path || 'items?author=author-0'),
    ('owner', 'author of few', team.path || 'items?author=author-49999'),
    ('owner', 'author of none', team.path || 'items?author=nobody'),
    ('owner', 'author of many, pending', team.path || 'items?author=author-0&status=pending'),
    ('owner', 'author of many, rule that never matched', team.path || 'items?author=author-0&rule_id=' || house.never),
    ('owner', 'last day', team.path || 'items?since=' || at.day),
    ('owner', 'before the last 15 days', team.path || 'items?until=' || at.half),
    ('owner', 'a time without items', team.path || 'items?until=' || at.before),
    ('owner', 'rejected before the last 15 days', team.path || 'items?status=rejected&until=' || at.half),
    ('owner', 'app_media_id of one', team.path || 'items?app_media_id=item-5'),
    ('owner', 'app_media_id of many', team.path || 'items?app_media_id=front-page'),
    ('owner', 'app_media_id of many, pending', team.path || 'items?status=pending&app_media_id=front-page'),
    ('owner', 'app_media_id of none', team.path || 'items?app_media_id=nothing'),
    ('owner', 'half way', team.path || 'items?after=' || at.half_id),
    ('owner', 'near the end', team.path || 'items?after=' || at.deep_id),
    ('owner', 'old', team.path || 'items/' || ids.old_item),
    ('owner', 'just told', team.path || 'items/' || ids.told_item),
    ('owner', 'waits for review', team.path || 'items/' || ids.waiting_item),
    ('owner', 'decided by a person', team.path || 'items/' || ids.decided_item),
    ('owner', 'image on a list', team.path || 'items/' || ids.matched_item),
    ('owner', 'pending', team.path || 'deliveries?state=pending'),
    ('owner', 'delivered', team.path || 'deliveries?state=delivered'),
    ('owner', 'exhausted', team.path || 'deliveries?state=exhausted'),
    ('owner', 'discarded', team.path || 'deliveries?state=discarded'),
    ('owner', 'busiest endpoint', team.path || 'deliveries?endpoint=' || sites.endpoint),
    ('owner', 'busiest endpoint, exhausted', team.path || 'deliveries?state=exhausted&endpoint=' || sites.endpoint),
    ('owner', 'failing endpoint', team.path || 'deliveries?endpoint=' || sites.failing),
    ('owner', 'failing endpoint, delivered', team.path || 'deliveries?state=delivered&endpoint=' || sites.failing),
    ('owner', 'unused endpoint', team.path || 'deliveries?endpoint=' || sites.unused),
    ('owner', 'busiest site', team.path || 'deliveries?site=' || sites.busy),
    ('owner', 'empty site', team.path || 'deliveries?site=' || sites.empty),
    ('owner', 'media.created', team.path || 'deliveries?event=media.created'),
    ('owner', 'of an item', team.path || 'deliveries?item=' || ids.told_item),
    ('owner', 'of an old item', team.path || 'deliveries?item=' || ids.old_item),
    ('owner', 'of an unknown item', team.path || 'deliveries?item=' || nobody.id),
    ('owner', 'a time without deliveries', team.path || 'deliveries?until=' || at.half),
    ('owner', 'exhausted, before a day ago', team.path || 'deliveries?state=exhausted&until=' || at.day),
    ('owner', 'pending, deep', team.path || 'deliveries?state=pending&after=' || at.day_id),
    ('owner', 'deep', team.path || 'deliveries?after=' || at.day_id),
    ('owner', 'after 9 attempts', team.path || 'deliveries/' || ids.failed_delivery),
    ('owner', 'busiest site', team.path || 'events?site=' || sites.busy),
    ('owner', 'empty site', team.path || 'events?site=' || sites.empty),
    ('owner', 'media.moderated', team.path || 'events?event=media.moderated'),
    ('owner', 'of an item', team.path || 'events?item=' || ids.old_item),
    ('owner', 'of an unknown item', team.path || 'events?item=' || nobody.id),
    ('owner', 'of an unknown item, busiest site', team.path || 'events?site=' || sites.busy || '&item=' || nobody.id),
    ('owner', 'before the last 15 days', team.path || 'events?until=' || at.half),
    ('owner', 'a time without events', team.path || 'events?until=' || at.before),
    ('owner', 'half way', team.path || 'events?after=' || at.half_id),
    ('owner', 'near the end', team.path || 'events?after=' || at.deep_id),
    ('owner', 'a frequent action', team.path || 'audit?action=media.decide'),
    ('owner', 'an action that never happened', team.path || 'audit?action=plan.create'),
    ('owner', 'an actor', team.path || 'audit?actor=' || ids.member),
    ('owner', 'an unknown actor', team.path || 'audit?actor=' || nobody.id),
    ('owner', 'a target', team.path || 'audit?target=' || sites.busy),
    ('owner', 'an unknown target', team.path || 'audit?target=' || nobody.id),
    ('owner', 'before the last 15 days', team.path || 'audit?until=' || at.half_date),
    ('owner', 'a time without entries', team.path || 'audit?until=' || at.before_date),
    ('owner', 'deep', team.path || 'audit?after=' || at.deep_id),
    ('owner', 'last 24 hours', team.path || 'overview?span=24h'),
    ('owner', 'last 7 days', team.path || 'overview?span=7d'),
    ('owner', 'last 30 days', team.path || 'overview?span=30d'),
    ('owner', 'busiest site, 30 days', team.path || 'overview?span=30d&site=' || sites.busy),
    ('owner', 'busiest site', team.path || 'webhooks?site=' || sites.busy),
    ('owner', 'failing', team.path || 'webhooks/' || sites.failing),
    ('owner', 'rules by name', team.path || 'rules/' || house.id || '?q=rule'),
    ('owner', 'first and live version', team.path || 'rules/' || house.id || '/compare?from=' || house.first || '&to=' || house.live),
    ('owner', 'PDQ begins with', team.path || 'hash-lists/' || ids.list || '?how=pdq&hash=' || left(ids.pdq, 6)),
    ('owner', 'PDQ that is not there', team.path || 'hash-lists/' || ids.list || '?how=pdq&hash=0123456789abcdef'),
    ('owner', 'SHA-256 begins with', team.path || 'hash-lists/' || ids.list || '?how=sha256&hash=' || left(ids.sha256, 6)),
    ('owner', 'looks like a PDQ', team.path || 'hash-lists/' || ids.list || '?how=near&hash=' || ids.pdq),
    ('owner', 'looks like no PDQ', team.path || 'hash-lists/' || ids.list || '?how=near&hash=' || repeat('0f1e2d3c', 8)),
    ('owner', 'deep', team.path || 'hash-lists/' || ids.list || '?after=' || bench.id_at(bench.now() - interval '50 days', 'x')),
    ('operator', 'a frequent action', '/instance/audit?action=media.decide'),
    ('operator', 'an action that never happened', '/instance/audit?action=plan.create'),
    ('operator', 'an actor', '/instance/audit?actor=' || ids.member),
    ('operator', 'an unknown target', '/instance/audit?target=' || nobody.id),
    ('operator', 'deep', '/instance/audit?after=' || at.deep_id),
    ('operator', 'near the end', '/instance/teams?after=' || bench.id_at(bench.now() - interval '100 days' + interval '900 minutes', 'x')),
    ('operator', 'near the end', '/instance/people?after=' || bench.id_at(bench.now() - interval '90 days' + interval '150 seconds', 'x')),
    ('operator', 'a queue', '/instance/dead-jobs?queue=analysis'),
    ('operator', 'a cause', '/instance/dead-jobs?cause=aborted'),
    ('operator', 'a text in the error', '/instance/dead-jobs?error=503'),
    ('operator', 'a text in no error', '/instance/dead-jobs?error=nothing'),
    ('operator', 'a team', '/instance/dead-jobs?team_id=' || house.team_id),
    ('operator', 'an unknown lane', '/instance/dead-jobs?lane_id=' || nobody.id),
    ('operator', 'a group', '/instance/queues/webhooks/groups/' || house.team_id),
    ('operator', 'a lane', '/instance/queues/webhooks/lanes/' || sites.failing)
) p (who, special, path)
