-- What the retention of items does (`crates/store/src/media/retention.rs`): site by site and slice by slice, each slice
-- in a transaction of its own. Here it removes everything of the days before this one.
create or replace procedure public.forget(number integer, slice integer) language plpgsql as $$
declare
    before uuid := id_at(((select day from today) + number)::timestamp at time zone 'utc');
    site record;
    last uuid;
    items uuid [];
    due uuid [];
begin
    for site in select id from sites where item_retention_days is not null order by id loop
        last := '00000000-0000-0000-0000-000000000000';
        loop
            select array_agg(o.id order by o.id) into items
            from (
                select m.id
                from media m
                where (m.site_id, m.id) > (site.id, last) and (m.site_id, m.id) < (site.id, before)
                order by m.site_id, m.id
                limit slice
            ) o;
            exit when items is null;
            last := items[array_length(items, 1)];
            with told as materialized (
                select e.media_id
                from events e
                where (e.site_id, e.id) >= (site.id, '00000000-0000-0000-0000-000000000000') and (e.site_id, e.id) < (site.id, before)
            ),
            due_items as (
                select m.id
                from media m
                join verdicts v on v.media_id = m.id and v.number = m.verdict
                where
                    m.id = any(items)
                    and m.status in ('approved', 'rejected')
                    and m.id not in (select t.media_id from told t)
                    and not exists (select from golden_items g where g.media_id = m.id)
                    and not exists (select from review_tasks r where r.media_id = m.id)
                for update of m skip locked
            )
            select array_agg(d.id) into due from due_items d;
            delete from media_images where media_id = any(due);
            delete from analyses where media_id = any(due);
            delete from analysis_parts where media_id = any(due);
            delete from analysis_image_parts where media_id = any(due);
            delete from analysis_pieces where media_id = any(due);
            delete from verdicts where media_id = any(due);
            delete from reviews where media_id = any(due);
            delete from review_tasks where media_id = any(due);
            delete from review_notes where media_id = any(due);
            delete from golden_items where media_id = any(due);
            delete from image_matches where media_id = any(due);
            delete from media where id = any(due);
            commit;
        end loop;
    end loop;
end
$$;
