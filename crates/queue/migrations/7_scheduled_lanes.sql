-- The scheduled jobs of one lane, for whoever wants them to be due now. It has entries of scheduled jobs only, which are few
-- beside the others.
create index jobs_scheduled_idx on queue.jobs (queue, lane, run_at) where state = 2;
