-- What the other files of this directory share. They run in the order of `bench/src/desk/fill.rs`.

create schema bench;

create function bench.setting(name text) returns integer language sql stable
return current_setting('bench.' || name)::integer;

-- A UUIDv7 of this time.
create function bench.id_at(at timestamptz, what text) returns uuid language sql immutable
return (
    lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
    || '7' || substr(md5(what), 1, 3) || '8' || substr(md5(what), 4, 15)
)::uuid;

create table bench.sites as
select row_number() over (order by id) - 1 as number, id, team_id
from sites;

-- What the service's own workers have judged: texts that were submitted and need a person.
create table bench.templates as
select
    row_number() over (order by m.id) - 1 as number, m.body, m.group_versions, v.moderation_type, v.details::jsonb as details,
    v.trace
from reviews r
join media m on m.id = r.media_id
join verdicts v on v.media_id = m.id and v.number = 1;

-- The categories for which items are flagged. The first four have policies of these severities, and the others have none.
create table bench.categories (number bigint primary key, category text not null, severity smallint);
insert into bench.categories values
(0, 'spam', 0), (1, 'hate', 2), (2, 'self_harm', 3), (3, 'violence', 1), (4, 'adult', null), (5, 'profanity', null);

insert into review_policies
(id, team_id, code, name, guideline, reason, key, severity, categories, rules, two_people)
select
    gen_random_uuid(), t.team_id, c.category, initcap(replace(c.category, '_', ' ')),
    'What belongs here: ' || repeat('a sentence of the guideline. ', 12), 'It breaks the rule about ' || c.category || '.',
    c.number + 1, c.severity, array[c.category], '{}', false
from bench.categories c
cross join (select team_id from bench.sites limit 1) t
where c.severity is not null;

insert into users (id, email, name, password_hash)
select
    bench.id_at(now(), 'user ' || n), 'person-' || n || '@bench.example', 'Person ' || n,
    '$argon2id$v=19$m=19456,t=2,p=1$AAAA$AAAA'
from generate_series(1, bench.setting('people')) n;

insert into memberships (id, user_id, team_id, role)
select bench.id_at(now(), 'member ' || n), bench.id_at(now(), 'user ' || n), t.team_id, 'moderator'
from generate_series(1, bench.setting('people')) n
cross join (select team_id from bench.sites limit 1) t;
