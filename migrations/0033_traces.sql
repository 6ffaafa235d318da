-- Traces, in the form of W3C Trace Context: what connects a submission with its item's jobs and webhooks, and a request with the
-- changes that it makes.

alter table media
-- 16 bytes of the trace, 8 of the span, 1 of flags. None, as of most items: the trace has the item's id, and is not recorded.
add column traceparent bytea;

alter table audit_log
-- The trace of the request that made the change: 16 bytes.
add column trace_id bytea;
