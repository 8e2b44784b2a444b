-- Locks an organization for a new call, and gives its limit and how many of its calls are open: one statement, or a part
-- of the one that inserts runs. Each statement of a volatile function has a snapshot of its own, so that it counts runs
-- committed while it waited for the lock. Open is what the index `runs_open` has.
create function lock_open_calls(of_organization bigint, default_limit integer)
  returns table (calls_max integer, calls_open bigint) language plpgsql volatile as $$
begin
  select coalesce(concurrent_call_limit, default_limit) into calls_max
  from organizations where id = of_organization for no key update;
  -- None of an organization that is gone.
  calls_max := coalesce(calls_max, 0);
  select count(*) into calls_open
  from runs where organization_id = of_organization and state <> 'completed' and not is_idle;
  return next;
end
$$;
