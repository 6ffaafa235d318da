-- The statistics as the worker's chain adds them up (`crates/store/src/statistics/slice`), and the note that it has counted everything.

create unlogged table bench.figures as
select
    m.site_id as site, m.team_id as team, date_trunc('hour', m.created_at, 'UTC') as hour, 'accepted' as figure, count(*) as n,
    0::bigint as waited_ms
from media m
group by 1, 2, 3
union all
select
    m.site_id, m.team_id, date_trunc('hour', v.moderated_at, 'UTC'), v.moderation_type || '_' || v.status, count(*),
    coalesce(sum(extract(epoch from v.moderated_at - m.created_at) * 1000) filter (where v.number = 2), 0)::bigint
from verdicts v
join media m on m.id = v.media_id
group by 1, 2, 3, 4
union all
select
    s.id, s.team_id, date_trunc('hour', a.started_at, 'UTC'), case when a.outcome = 'delivered' then 'delivered' else 'failed' end,
    count(*), 0
from delivery_attempts a
join deliveries d on d.id = a.delivery_id
join webhook_endpoints e on e.id = d.endpoint_id
join sites s on s.id = e.site_id
group by 1, 2, 3, 4
union all
select s.id, s.team_id, date_trunc('hour', d.ended_at, 'UTC'), d.state, count(*), 0
from deliveries d
join webhook_endpoints e on e.id = d.endpoint_id
join sites s on s.id = e.site_id
where d.state in ('exhausted', 'discarded')
group by 1, 2, 3, 4;

insert into statistics_hours (
    subject_id, hour, accepted, rule_approved, rule_rejected, rule_pending_review, ai_approved, ai_rejected, ai_pending_review,
    manual_approved, manual_rejected, failure_approved, failure_rejected, failure_pending_review, reviews_decided, reviews_waited_ms,
    delivered, failed_attempts, exhausted, discarded
)
select
    coalesce(site, team, '00000000-0000-0000-0000-000000000000'), hour,
    coalesce(sum(n) filter (where figure = 'accepted'), 0),
    coalesce(sum(n) filter (where figure = 'rule_approved'), 0),
    coalesce(sum(n) filter (where figure = 'rule_rejected'), 0),
    coalesce(sum(n) filter (where figure = 'rule_pending_review'), 0),
    coalesce(sum(n) filter (where figure = 'ai_approved'), 0),
    coalesce(sum(n) filter (where figure = 'ai_rejected'), 0),
    coalesce(sum(n) filter (where figure = 'ai_pending_review'), 0),
    coalesce(sum(n) filter (where figure = 'manual_approved'), 0),
    coalesce(sum(n) filter (where figure = 'manual_rejected'), 0),
    0, 0, 0,
    coalesce(sum(n) filter (where figure like 'manual%'), 0),
    sum(waited_ms),
    coalesce(sum(n) filter (where figure = 'delivered'), 0),
    coalesce(sum(n) filter (where figure = 'failed'), 0),
    coalesce(sum(n) filter (where figure = 'exhausted'), 0),
    coalesce(sum(n) filter (where figure = 'discarded'), 0)
from bench.figures
group by grouping sets ((site, hour), (team, hour), (hour));

insert into statistics_rules (subject_id, day, rule_group_id, rule_id, name, matches)
select
    coalesce(site_id, team_id), day, "group"::uuid, rule::uuid, min(name), count(*)
from (
    select
        m.site_id, m.team_id, (v.moderated_at at time zone 'UTC')::date as day,
        v.trace #>> '{evidence,0,evidence,group}' as "group", v.details #>> '{rule_violations,0,rule_id}' as rule,
        v.details #>> '{rule_violations,0,rule_name}' as name
    from verdicts v
    join media m on m.id = v.media_id
    where v.number = 1 and strpos(v.trace::text, '"rule_id"') > 0
) f
where "group" is not null
group by grouping sets ((site_id, day, "group", rule), (team_id, day, "group", rule));

delete from statistics_given_up;

update statistics_progress
set
    state = 'finished', counted_to = pg_snapshot_xmax(pg_current_snapshot()), reached_at = clock_timestamp(),
    begun_at = clock_timestamp(), ended_at = clock_timestamp();
