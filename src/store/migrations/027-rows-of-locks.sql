-- Each gives one row. The planner's guess of a thousand made a start look so dear that PostgreSQL compiled it (JIT): a
-- second for what takes milliseconds, where a pooler stands before the server and the session cannot say `jit = off`.
alter function lock_open_calls(bigint, integer) rows 1;
alter function lock_starts(bigint, integer, text[], timestamptz) rows 1;
alter function lock_provider_call(bigint, integer, bigint, text) rows 1;
