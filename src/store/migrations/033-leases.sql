-- Null: released. The row stays, as its number goes on.
alter table configuration_leases alter column node drop not null;

-- What a limited number of requests may do at a time over all processes, such as event streams of an organization.
create table places (
  id bigint generated always as identity primary key,
  name text not null,
  -- The process that has it, and when it is given up for lost.
  node text not null,
  until timestamptz not null
);
create index places_name on places (name);

-- Takes a place of `of_name`; null if all are taken. Each statement has a snapshot of its own, so that it counts places
-- that were taken while it waited for the lock.
create function take_place(of_name text, of_node text, places_max integer, at timestamptz, of_until timestamptz)
  returns bigint language plpgsql volatile as $$
declare
  taken bigint;
begin
  perform pg_advisory_xact_lock(hashtextextended('place ' || of_name, 0));
  delete from places where name = of_name and until <= at;
  if (select count(*) from places where name = of_name) < places_max then
    insert into places (name, node, until) values (of_name, of_node, of_until) returning id into taken;
  end if;
  return taken;
end
$$;
