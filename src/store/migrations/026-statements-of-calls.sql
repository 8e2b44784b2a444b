-- Calls and their ends with fewer statements: each waits for its turn at the embedded engine, and a transaction of several
-- keeps the engine between them.

-- The statement that stored the key: sent once more, because its answer was lost, it knows its own runs.
alter table start_keys add column made_by text;

-- Starts with the keys of clients: locks the organization and counts its open calls, then reads what the keys have started
-- since. In that order, each with a snapshot of its own: a start that was committed during the wait for the lock is seen.
-- `used_keys`: by key, the hash of its request, its run and its statement.
create function lock_starts(of_organization bigint, default_limit integer, of_keys text[], since timestamptz)
  returns table (calls_max integer, calls_open bigint, used_keys jsonb) language plpgsql volatile as $$
begin
  select locked.calls_max, locked.calls_open into calls_max, calls_open
  from lock_open_calls(of_organization, default_limit) as locked;
  used_keys := '{}';
  if cardinality(of_keys) > 0 then
    select coalesce(
      jsonb_object_agg(
        key, jsonb_build_object('hash', request_hash, 'run', run_id::text, 'made_by', made_by)
      ), '{}'
    ) into used_keys
    from start_keys
    where organization_id = of_organization and key = any(of_keys) and created_at > since;
  end if;
  return next;
end
$$;

-- The same for a provider's call, of which a repeated webhook may tell: `known_run` is the run that it has.
create function lock_provider_call(
  of_organization bigint, default_limit integer, of_configuration bigint, of_call text
)
  returns table (calls_max integer, calls_open bigint, known_run bigint) language plpgsql volatile as $$
begin
  select locked.calls_max, locked.calls_open into calls_max, calls_open
  from lock_open_calls(of_organization, default_limit) as locked;
  select id into known_run from runs
  where configuration_id = of_configuration and provider_call_id = of_call
  order by id desc limit 1;
  return next;
end
$$;

-- False where it is known before the end that nothing follows it: no review and no webhook.
alter table runs add column has_afterwork boolean not null default true;
drop trigger runs_completed on runs;
create trigger runs_completed after update on runs for each row
  when (old.state <> 'completed' and new.state = 'completed' and new.has_afterwork)
  execute function note_afterwork();
