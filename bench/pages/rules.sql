-- Every site is judged by the group "House rules", which the program has created with its first version. Here it gets all others,
-- with a draft, a shadow and backtests.

create table bench.house as
select id, team_id, live_version_id as first from rule_groups where name = 'House rules';

create table bench.versions as
select
    n as number, bench.now() - interval '30 days' * (1 - (n - 1)::float8 / bench.setting('versions')) as since,
    case when n = 1 then h.first
         else bench.id_at(bench.now() - interval '30 days' * (1 - (n - 1)::float8 / bench.setting('versions')), 'version ' || n)
    end as id
from bench.house h, generate_series(1, bench.setting('versions')) n;

insert into rule_group_versions
    (id, rule_group_id, number, rules, uses_ai, categories, hash_lists, note, created_by, created_at, kept)
select
    n.id, v.rule_group_id, n.number, replace(v.rules::text, 'banned0x0', 'banned0x0v' || n.number)::json, v.uses_ai, v.categories,
    v.hash_lists, 'Change ' || n.number, p.member, n.since, true
from bench.versions n
cross join bench.house h
join rule_group_versions v on v.id = h.first
cross join (select member from bench.people where number = 1) p
where n.number > 1;

insert into rule_group_publications (id, rule_group_id, version_id, published_by, published_at)
select bench.id_at(n.since, 'publication ' || n.number), h.id, n.id, p.member, n.since
from bench.versions n
cross join bench.house h
cross join (select member from bench.people where number = 1) p
where n.number > 1;

update rule_groups g
set
    live_version_id = (select id from bench.versions order by number desc limit 1),
    draft = (select replace(v.rules::text, 'banned0x0', 'banned0x0draft')::json from rule_group_versions v where v.id = h.first),
    draft_revision = 600,
    shadow_version_id = (select id from bench.versions order by number desc offset 1 limit 1)
from bench.house h
where g.id = h.id;

insert into site_rule_groups (site_id, rule_group_id)
select s.id, h.id from bench.sites s cross join bench.house h
on conflict do nothing;
