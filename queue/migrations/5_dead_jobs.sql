-- Dead jobs are read, and replayed in batches, in the order of their death. Each of these indexes is that order
-- within one of the things that they are chosen by, with the id last, because jobs buried together died at the same
-- time: a batch starts where the last one ended, and never walks over what is already gone.
drop index queue.dead_jobs_queue_idx;
drop index queue.dead_jobs_died_at_idx;
create index dead_jobs_died_idx on queue.dead_jobs (died_at, id);
create index dead_jobs_queue_idx on queue.dead_jobs (queue, died_at, id);
create index dead_jobs_lane_idx on queue.dead_jobs (lane, died_at, id);
