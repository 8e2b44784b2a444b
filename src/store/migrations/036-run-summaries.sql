-- What the list of all runs shows and searches, of runs that are over: written once, with the end of the run
-- (store/runs/run-summaries.ts). Runs that ended before this migration have no row.
create table run_summaries (
  run_id bigint primary key references runs on delete cascade,
  organization_id bigint not null,
  -- Copy of the run's.
  created_at timestamptz not null,
  -- Codes of model/run-summary.ts; null, if there is nothing to look into.
  attention text[],
  faults integer not null,
  -- Waits of the caller for the agent's answers; null, if there was none.
  answer_p50_ms integer,
  answer_p95_ms integer,
  answer_max_ms integer,
  ended_by text,
  -- Words of both sides, of the name, the numbers and the gathered values.
  words tsvector not null
);
-- The newest that have a frequent word are found by age, those that have a seldom one by the word.
create index run_summaries_created on run_summaries (organization_id, created_at desc, run_id desc);
create index run_summaries_attention on run_summaries (organization_id, created_at desc, run_id desc)
  where attention is not null;
create index run_summaries_words on run_summaries using gin (words);
