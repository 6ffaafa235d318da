-- Exceptions for whole queues, as queue.lanes has them for lanes: a queue without a row is not paused.
create table queue.queues (
    queue        text        not null,
    paused_until timestamptz not null,
    constraint queues_pkey primary key (queue)
);
