-- What several processes compare with the time is told by the database's clock alone: presence, leases, holds, and
-- when something is due. Theirs may differ.

-- Due at once, also if the clock of the process that completed the run is ahead.
create or replace function note_afterwork() returns trigger language plpgsql as $$
begin
  insert into afterworks (run_id, organization_id, due_at, since)
  values (
    new.id,
    new.organization_id,
    least(coalesce(new.ended_at, new.created_at), clock_timestamp()),
    coalesce(new.ended_at, new.created_at)
  )
  on conflict do nothing;
  return null;
end
$$;
