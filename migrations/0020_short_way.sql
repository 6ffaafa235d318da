-- The id of an event's delivery to an endpoint, as the service derives it (`DeliveryId::of`): the event's milliseconds, then a
-- hash of both ids, with the version and the variant of a UUIDv7. So one statement can store a verdict, its events and their
-- deliveries. In PL/pgSQL, because an SQL function that is not inlined starts an executor for each row.
create function delivery_id_of(event uuid, endpoint uuid) returns uuid
language plpgsql immutable strict parallel safe as $$
declare
    hash bytea := sha256(uuid_send(event) || uuid_send(endpoint));
begin
    return encode(
        substr(uuid_send(event), 1, 6)
        || substr(set_byte(set_byte(hash, 6, get_byte(hash, 6) & 15 | 112), 8, get_byte(hash, 8) & 63 | 128), 7, 10),
        'hex'
    )::uuid;
end
$$;

-- The processes that work on items' jobs and understand those of format 1, which also tell of the acceptance. While there is none
-- for a queue, as in the middle of an upgrade or when its workers are down, acceptances are told at once.
create table item_workers (
    -- The process's id in queue.workers.
    worker_id uuid primary key,
    queues text [] not null,
    -- Renewed while it lives.
    expires_at timestamptz not null
)
with (fillfactor = 50);
