-- Inbound calls that wait for a place, and what configurations and numbers do when all places are taken.
alter table telephony_configurations add column overflow jsonb;
alter table phone_numbers add column overflow jsonb;

-- The run of a waiting call is idle. Callers are served in the order of their runs.
create table waiting_calls (
  run_id bigint primary key references runs on delete cascade,
  organization_id bigint not null references organizations on delete cascade,
  -- As it was when the call began to wait (model/overflow.ts).
  policy jsonb not null,
  since timestamptz not null,
  -- Until then the caller counts as present, and delays those behind. By the database's own clock, as functions
  -- compare it.
  seen_until timestamptz not null,
  -- Whether its provider has answered it for the wait.
  is_answered boolean not null default false,
  -- Null before the first announcement.
  announced_at timestamptz,
  -- When a gateway looks after the call next; null, if its provider asks.
  due_at timestamptz
);
create index waiting_calls_line on waiting_calls (organization_id, run_id);
create index waiting_calls_due on waiting_calls (due_at) where due_at is not null;
create index waiting_calls_seen on waiting_calls (seen_until);

create function leave_line() returns trigger language plpgsql as $$
begin
  delete from waiting_calls where run_id = new.id;
  return null;
end
$$;
create trigger runs_waiting after update on runs for each row
  when (old.is_idle and old.state <> 'completed' and new.state = 'completed')
  execute function leave_line();

-- A place that is free belongs to the callers who wait for one, before any other call.
create or replace function lock_open_calls(of_organization bigint, default_limit integer)
  returns table (calls_max integer, calls_open bigint) language plpgsql volatile rows 1 as $$
begin
  select coalesce(concurrent_call_limit, default_limit) into calls_max
  from organizations where id = of_organization for no key update;
  -- None of an organization that is gone.
  calls_max := coalesce(calls_max, 0);
  select count(*) + (
    select count(*) from waiting_calls
    where organization_id = of_organization and seen_until > clock_timestamp()
  ) into calls_open
  from runs where organization_id = of_organization and state <> 'completed' and not is_idle;
  return next;
end
$$;

-- Locks the line for a caller who wants to join it: how many wait in it, and the run that the call has.
create function lock_line(
  of_organization bigint, default_limit integer, of_configuration bigint, of_call text
)
  returns table (waiting bigint, known_run bigint) language plpgsql volatile rows 1 as $$
begin
  select locked.known_run into known_run
  from lock_provider_call(of_organization, default_limit, of_configuration, of_call) as locked;
  select count(*) into waiting from waiting_calls
  where organization_id = of_organization and seen_until > clock_timestamp();
  return next;
end
$$;

-- Gives a waiting call a place if one is free behind those who wait longer; it is the process's from then on. `verdict`:
-- admitted, waiting, or gone if it does not wait. A caller who still waits counts as present for `seen_ms` from here on.
create function admit_waiting_call(
  of_run bigint, default_limit integer, to_node text, to_epoch bigint, seen_ms integer
)
  returns table (verdict text, ahead bigint) language plpgsql volatile rows 1 as $$
declare
  of_organization bigint;
  calls_max integer;
  runs_open bigint;
begin
  verdict := 'gone';
  ahead := 0;
  select organization_id into of_organization from waiting_calls where run_id = of_run;
  select coalesce(concurrent_call_limit, default_limit) into calls_max
  from organizations where id = of_organization for no key update;
  update waiting_calls
  set seen_until = greatest(seen_until, clock_timestamp() + seen_ms * interval '1 millisecond')
  where run_id = of_run;
  if not found then
    return next;
    return;
  end if;
  select count(*) into runs_open
  from runs where organization_id = of_organization and state <> 'completed' and not is_idle;
  select count(*) into ahead from waiting_calls
  where organization_id = of_organization and run_id < of_run and seen_until > clock_timestamp();
  verdict := 'waiting';
  if runs_open + ahead < calls_max then
    update runs set is_idle = false, owner_node = to_node, owner_epoch = to_epoch,
      adopted_epochs = case when owner_epoch is null or owner_epoch = to_epoch then adopted_epochs
        else array_append(adopted_epochs, owner_epoch) end
    where id = of_run and state = 'initialized' and is_idle;
    verdict := case when found then 'admitted' else 'gone' end;
    delete from waiting_calls where run_id = of_run;
  end if;
  return next;
end
$$;
