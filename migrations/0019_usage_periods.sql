-- When a billing period ended that did not end as the subscription's present beginning tells, because the beginning was changed
-- since; null for all others.
alter table usage
add column period_end timestamptz;

-- Whoever changes the beginning of a subscription, also a binary that does not know of this, ends the period that is running, and
-- the past periods keep their ends. A period of the new beginning that was begun before goes on.
create function end_usage_periods() returns trigger language plpgsql as $$
begin
    update usage
    set period_end = case
        when period_start <> billing_period(new.started_at, now())
        then coalesce(period_end, least(billing_period(old.started_at, period_start, 1), now()))
    end
    where team_id = new.team_id;
    return null;
end
$$;

create trigger subscriptions_end_usage_periods
after update of started_at on subscriptions
for each row when (old.started_at <> new.started_at) execute function end_usage_periods();
