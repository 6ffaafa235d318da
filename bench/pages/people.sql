-- The team's people, tokens and invitations. The first person is an owner, the next one is the operator.

create table bench.people as
select
    n as number, bench.id_at(bench.now() - interval '200 days', 'user ' || n) as "user",
    bench.id_at(bench.now() - interval '200 days' + n * interval '1 second', 'member ' || n) as member,
    'Person ' || n as name
from generate_series(1, bench.setting('people')) n;

insert into users (id, email, name, password_hash, created_at)
select "user", 'person-' || number || '@bench.example', name, '$argon2id$v=19$m=19456,t=2,p=1$AAAA$AAAA', bench.now() - interval '200 days'
from bench.people;

insert into memberships (id, user_id, team_id, role, created_at)
select
    p.member, p."user", case when p.number <> 2 then t.team_id end,
    case when p.number = 1 then 'owner' when p.number = 2 then 'operator'
         else (array['viewer', 'moderator', 'moderator', 'lead', 'admin'])[1 + p.number % 5] end,
    bench.now() - interval '200 days'
from bench.people p
cross join (select team_id from bench.sites limit 1) t;

-- Nobody gives a code: the sessions say that it was given.
insert into factors (user_id, secret, confirmed_at)
select "user", '\x00', bench.now() - interval '199 days' from bench.people where number % 3 <> 0;

insert into sessions (id, user_id, hash, created_at, used_at, address, user_agent)
select bench.id_at(bench.now(), 'session ' || number), "user", sha256(('session ' || number)::bytea),
    bench.now() - interval '2 hours', bench.now() - interval '5 minutes', '192.0.2.' || number % 250, 'Mozilla/5.0'
from bench.people
where number > 2;

insert into management_tokens (id, team_id, hash, hint, scopes, name, created_at, created_by, creator)
select
    bench.id_at(bench.now() - n * interval '3 days', 'token ' || n), t.team_id, sha256(('token ' || n)::bytea), 'abcd',
    array['media:read', 'usage:read'], 'Dashboard ' || n, bench.now() - n * interval '3 days', p.member, 'member'
from generate_series(1, 60) n
cross join (select team_id from bench.sites limit 1) t
cross join (select member from bench.people where number = 1) p;

insert into links (id, kind, hash, team_id, email, role, creator, created_by, created_at, expires_at)
select
    bench.id_at(bench.now() - n * interval '1 hour', 'link ' || n), 'invitation', sha256(('link ' || n)::bytea), t.team_id,
    'guest-' || n || '@bench.example', 'viewer', 'member', p.member, bench.now() - n * interval '1 hour',
    bench.now() + interval '3 days'
from generate_series(1, 20) n
cross join (select team_id from bench.sites limit 1) t
cross join (select member from bench.people where number = 1) p;
