-- no-transaction
-- The review desk: what people are asked to look at, who looks at it, and what each of them said.
--
-- Two transactions, so that verdicts wait only while the triggers are created, and not while what waits already gets its tasks. If
-- the second one fails, all of this runs again, so every statement can run twice.

begin;

-- What a team's moderators reject things for. Not to be confused with sites.policy, which is for models.
create table if not exists review_policies (
    id uuid primary key,
    team_id uuid not null references teams (id),
    -- What programs and reports call it.
    code text not null
    constraint review_policies_code_check check (char_length(code) between 1 and 100),
    name text not null
    constraint review_policies_name_check check (char_length(name) between 1 and 100),
    -- What moderators read.
    guideline text not null
    constraint review_policies_guideline_check check (char_length(guideline) <= 10000),
    -- What the application is told unless the moderator writes something else.
    reason text not null
    constraint review_policies_reason_check check (char_length(reason) between 1 and 1000),
    -- Its key on the desk. Null: it has none.
    key smallint
    constraint review_policies_key_check check (key between 1 and 9),
    -- How urgent items are that it is suggested for: 0 low, 1 normal, 2 high, 3 critical.
    severity smallint not null
    constraint review_policies_severity_check check (severity between 0 and 3),
    -- It is suggested for items that were flagged for one of these categories, or that a rule with one of these names matched.
    categories text [] not null,
    rules text [] not null,
    -- Whether two people must say the same before it is told.
    two_people boolean not null,
    created_at timestamptz not null default now(),
    -- Rows stay: opinions name them.
    disabled_at timestamptz
);

create unique index if not exists review_policies_code_key on review_policies (team_id, code) where disabled_at is null;
create unique index if not exists review_policies_key_key on review_policies (team_id, key) where disabled_at is null;
create index if not exists review_policies_team_id_idx on review_policies (team_id, id);

-- How the desk treats the items of a site. No row: the defaults, which are those of the columns.
create table if not exists desk_settings (
    site_id uuid primary key references sites (id),
    -- Minutes after which a person should have decided, by severity: low, normal, high, critical.
    minutes integer [] not null default '{2880,1440,240,60}'
    constraint desk_settings_minutes_check check (array_length(minutes, 1) = 4 and 1 <= all (minutes) and 525600 >= all (minutes)),
    -- For so long a decision can be undone before it is told.
    undo_seconds smallint not null default 10
    constraint desk_settings_undo_seconds_check check (undo_seconds between 0 and 60),
    -- Of what one person decided, this percentage is shown to a second one who does not know.
    audit_percent smallint not null default 0
    constraint desk_settings_audit_percent_check check (audit_percent between 0 and 100),
    -- One in so many reviews is of an item whose answer is known. Null: none.
    golden_every smallint
    constraint desk_settings_golden_every_check check (golden_every between 5 and 1000)
);

-- What waits for a person on the desk, or is in somebody's hands.
create table if not exists review_tasks (
    id uuid primary key,
    media_id uuid not null,
    team_id uuid not null,
    site_id uuid not null,
    -- Why: the item waits for its verdict; a second person looks at one that was decided; the answer is known; somebody has
    -- appealed.
    kind text not null
    constraint review_tasks_kind_check check (kind in ('review', 'audit', 'golden', 'appeal')),
    -- The number of the item's verdict when this was opened.
    verdict smallint not null,
    severity smallint not null,
    -- 1: everybody who may decide. 2: leads.
    tier smallint not null default 1
    constraint review_tasks_tier_check check (tier in (1, 2)),
    -- How many people must say the same.
    needed smallint not null default 1
    constraint review_tasks_needed_check check (needed in (1, 2)),
    -- The categories for which the machine flagged the item, and the names of the rules that matched.
    categories text [] not null,
    rules text [] not null,
    waiting_since timestamptz not null,
    due_at timestamptz not null,
    -- Only this person gets it: one whose answer is known.
    only_for uuid,
    -- Who has passed it on or said something, and does not get it again.
    not_for uuid [] not null default '{}',
    skips smallint not null default 0,
    -- The lease: who looks at it, since when and until when. It counts as nobody's after that time.
    leased_by uuid,
    leased_at timestamptz,
    leased_until timestamptz,
    -- Somebody has decided, and can undo it until then. A job tells it afterwards.
    held_until timestamptz
)
with (fillfactor = 80);

create unique index if not exists review_tasks_media_id_key on review_tasks (media_id, kind, only_for) nulls not distinct;
create index if not exists review_tasks_only_for_idx on review_tasks (only_for) where only_for is not null;
-- The order of the desk: the worst first, then what is due first.
create index if not exists review_tasks_desk_idx on review_tasks (team_id, tier, severity desc, due_at, id) where held_until is null;
create index if not exists review_tasks_leased_by_idx on review_tasks (leased_by) where leased_by is not null;
create index if not exists review_tasks_due_at_idx on review_tasks (due_at);

-- What people said: one row for each person and task. A row is deleted if the person undoes it in time; others stay.
create table if not exists review_opinions (
    id uuid primary key,
    task_id uuid not null,
    media_id uuid not null,
    team_id uuid not null,
    site_id uuid not null,
    kind text not null,
    tier smallint not null,
    -- A member or a token.
    actor_id uuid not null,
    ruling text not null
    constraint review_opinions_ruling_check check (ruling in ('approve', 'reject')),
    policy_id uuid,
    reason text not null
    constraint review_opinions_reason_check check (char_length(reason) between 1 and 1000),
    -- The item's status and the number of its verdict when the person looked.
    seen_status text not null,
    seen_verdict smallint not null,
    opened_at timestamptz not null,
    said_at timestamptz not null,
    -- Of the task, for reports: how urgent it was, the most severe policy that was suggested, since when it waited, and when it
    -- should have been decided.
    severity smallint not null,
    suggested_id uuid,
    waiting_since timestamptz not null,
    due_at timestamptz not null,
    held_until timestamptz not null,
    -- What became of it. Null: it can still be undone. Told: it is the item's verdict. Waits: for a second person. Agreed and
    -- disagreed: with the other person, or with the verdict. Superseded: somebody else had decided. Right and wrong: the answer was
    -- known.
    outcome text
    constraint review_opinions_outcome_check
    check (outcome in ('told', 'waits', 'agreed', 'disagreed', 'superseded', 'right', 'wrong'))
);

-- Items whose answer is known. Moderators get them among others.
create table if not exists golden_items (
    media_id uuid primary key,
    team_id uuid not null,
    site_id uuid not null,
    expected text not null
    constraint golden_items_expected_check check (expected in ('approve', 'reject')),
    added_by uuid not null,
    added_at timestamptz not null default now()
);

create index if not exists golden_items_site_id_idx on golden_items (site_id, media_id);
create index if not exists golden_items_team_id_idx on golden_items (team_id, media_id);

-- How much a person has seen, by day (UTC), for the person's own good.
create table if not exists review_exposures (
    actor_id uuid not null,
    day date not null,
    team_id uuid not null,
    -- Pictures that were unveiled, and reviews that were decided.
    unveiled integer not null default 0,
    decided integer not null default 0,
    primary key (actor_id, day)
);

create index if not exists review_exposures_team_id_idx on review_exposures (team_id, day);

create unique index if not exists review_opinions_task_id_key on review_opinions (task_id, actor_id);
create index if not exists review_opinions_team_id_idx on review_opinions (team_id, id);
create index if not exists review_opinions_said_at_idx on review_opinions (team_id, said_at);
create index if not exists review_opinions_media_id_idx on review_opinions (media_id, id);

-- What the team's people write about an item, for each other. No application reads it.
create table if not exists review_notes (
    id uuid primary key,
    media_id uuid not null,
    team_id uuid not null,
    -- On which task it was written. Null: on the page of the item.
    task_id uuid,
    actor_id uuid not null,
    body text not null
    constraint review_notes_body_check check (char_length(body) between 1 and 4000),
    written_at timestamptz not null default now()
);

create index if not exists review_notes_media_id_idx on review_notes (media_id, id);

-- Leases the most urgent reviews that the actor may have. An index has them in this order. The settings make Postgres read it in
-- order, whatever it estimates: sorting 200,000 rows took a second.
create or replace function claim_reviews(
    actor uuid, of_team uuid, of_tier smallint, of_sites uuid [], most bigint, lease interval
)
returns setof uuid language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
begin
    return query
    with picked as (
        select t.id
        from review_tasks t
        where
            t.team_id = of_team and t.tier = of_tier and t.held_until is null
            and (t.leased_until is null or t.leased_until <= clock_timestamp())
            and actor <> all(t.not_for) and (t.only_for is null or t.only_for = actor)
            and (of_sites is null or t.site_id = any(of_sites))
        order by t.severity desc, t.due_at, t.id
        limit most
        for no key update skip locked
    )
    update review_tasks t
    set leased_by = actor, leased_at = clock_timestamp(), leased_until = clock_timestamp() + lease
    from picked
    where t.id = picked.id
    returning t.id;
end
$$;

-- The number of an item's verdict, the categories for which the machine flagged it, and the names of the rules that matched, at
-- most 50 of each.
create or replace function review_flags(media uuid, out verdict smallint, out categories text [], out rules text [])
language sql stable as $$
    select
        m.verdict,
        array(select json_array_elements_text(v.details -> 'flagged_categories') limit 50),
        array(
            select distinct violation ->> 'rule_name'
            from json_array_elements(v.details -> 'rule_violations') as violation
            where violation ->> 'rule_name' is not null
            limit 50
        )
    from media m
    left join lateral (
        select details
        from verdicts
        where media_id = m.id and moderation_type in ('ai', 'rule')
        order by number desc
        limit 1
    ) v on true
    where m.id = media
$$;

-- How urgent an item is that was flagged like this, and how many people must say the same: by the policies that are suggested.
create or replace function review_urgency(
    team uuid, flagged text [], matched text [], out severity smallint, out needed smallint
)
language sql stable as $$
    select
        coalesce(max(p.severity), 1::smallint),
        case when bool_or(p.two_people) then 2::smallint else 1::smallint end
    from review_policies p
    where p.team_id = team and p.disabled_at is null and (p.categories && flagged or p.rules && matched)
$$;

-- Tasks follow the table reviews, which older binaries write, too. At the end of a statement that concludes items, their verdicts
-- are there.
create or replace function open_review_tasks() returns trigger language plpgsql as $$
begin
    insert into review_tasks (
        id, media_id, team_id, site_id, kind, verdict, severity, needed, categories, rules, waiting_since, due_at
    )
    select
        gen_random_uuid(), r.media_id, r.team_id, r.site_id, 'review', f.verdict, p.severity, p.needed, f.categories, f.rules, r.waiting_since,
        r.waiting_since + make_interval(mins => (coalesce(d.minutes, '{2880,1440,240,60}'::integer []))[p.severity + 1])
    from opened r
    left join desk_settings d on d.site_id = r.site_id
    left join lateral review_flags(r.media_id) flags on true
    cross join lateral (
        select
            coalesce(flags.verdict, 0::smallint) as verdict,
            coalesce(flags.categories, '{}') as categories,
            coalesce(flags.rules, '{}') as rules
    ) f
    cross join lateral review_urgency(r.team_id, f.categories, f.rules) p
    on conflict (media_id, kind, only_for) do nothing;
    return null;
end
$$;

create or replace trigger reviews_open_tasks
after insert on reviews
referencing new table as opened
for each statement execute function open_review_tasks();

create or replace function end_review_tasks() returns trigger language plpgsql as $$
begin
    with ended_tasks as (
        delete from review_tasks t using ended e where t.media_id = e.media_id and t.kind = 'review' returning t.id
    )
    update review_opinions o
    set outcome = 'superseded'
    from ended_tasks t
    where o.task_id = t.id and o.outcome = 'waits';
    return null;
end
$$;

create or replace trigger reviews_end_tasks
after delete on reviews
referencing old table as ended
for each statement execute function end_review_tasks();

commit;

begin;

-- What waits already. The lock keeps a review until its task is there, so that the trigger finds the task.
insert into review_tasks (id, media_id, team_id, site_id, kind, verdict, severity, categories, rules, waiting_since, due_at)
select
    gen_random_uuid(), r.media_id, r.team_id, r.site_id, 'review', coalesce(f.verdict, 0::smallint), 1, coalesce(f.categories, '{}'), coalesce(f.rules, '{}'),
    r.waiting_since, r.waiting_since + interval '1 day'
from (select * from reviews for key share) r
left join lateral review_flags(r.media_id) f on true
on conflict (media_id, kind, only_for) do nothing;

commit;
