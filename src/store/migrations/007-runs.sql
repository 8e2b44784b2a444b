-- Runs are listed for a whole organization as well, by more than their agent and age; their public
-- tokens end.

alter table runs
  -- Copies out of the contexts, made by the database, so that an index can hold them.
  add column caller_number text
    generated always as (left(initial_context ->> 'caller_number', 255)) stored,
  add column called_number text
    generated always as (left(initial_context ->> 'called_number', 255)) stored,
  add column call_tags jsonb generated always as (gathered_context -> 'call_tags') stored,
  add column tokens double precision generated always as (
    case when jsonb_typeof(cost_info -> 'dograh_token_usage') = 'number'
      then (cost_info -> 'dograh_token_usage')::double precision end
  ) stored,
  add column public_access_until timestamptz,
  -- Created without a call: no process runs it, and it takes no one's place until it is started.
  add column is_idle boolean not null default false;
drop index runs_open;
create index runs_open on runs (organization_id, workflow_id)
  where state <> 'completed' and not is_idle;

-- What a list filters by lies in the index itself: neither the total nor the way to a page far back
-- reads the runs, which are large. Lists by length sort what they find there.
create index runs_organization_created on runs (organization_id, created_at desc, id desc)
  include (workflow_id, state, call_type, mode, disposition, duration_s, tokens,
    caller_number, called_number);
drop index runs_workflow_created;
create index runs_workflow_created on runs (workflow_id, created_at desc, id desc)
  include (organization_id, state, call_type, mode, disposition, duration_s, tokens,
    caller_number, called_number);
create index runs_tags on runs using gin (call_tags jsonb_path_ops);

-- What clients named their requests for a call, so that a request that comes again begins none.
create table start_keys (
  organization_id bigint not null references organizations on delete cascade,
  key text not null,
  -- SHA-256 of what was asked.
  request_hash text not null,
  run_id bigint not null references runs on delete cascade,
  created_at timestamptz not null,
  primary key (organization_id, key)
);
create index start_keys_run on start_keys (run_id);
create index start_keys_age on start_keys (created_at);
