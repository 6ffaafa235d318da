-- Providers: what is asked of them, for whom, and in what state they are.

-- The categories that a version's rules ask for, so that nobody is asked for what nobody wants to know. Empty beside
-- uses_ai: the version was published by a binary that did not tell, and any category may be wanted.
alter table rule_group_versions add column categories text [] not null default '{}';

update rule_group_versions
set
    categories = array(
        select distinct rule ->> 'category'
        from json_array_elements(rules) as r (rule)
        where rule ->> 'type' = 'ai_threshold' and coalesce((rule ->> 'enabled')::boolean, true)
    )
where uses_ai;
