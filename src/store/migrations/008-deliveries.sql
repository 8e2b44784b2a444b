-- What happens after a call: which completed runs still have something to be done about them, webhooks
-- on their way, and the secrets that sign those.

create table afterworks (
  run_id bigint primary key references runs on delete cascade,
  organization_id bigint not null references organizations on delete cascade,
  -- Not before this; while a process works on it, the end of its lease.
  due_at timestamptz not null,
  -- When the run was completed.
  since timestamptz not null,
  -- How often it was taken up.
  claims integer not null default 0
);
create index afterworks_due on afterworks (organization_id, due_at);

-- A run becomes completed and due for its afterwork in one transaction, whichever statement does it.
create function note_afterwork() returns trigger language plpgsql as $$
begin
  insert into afterworks (run_id, organization_id, due_at, since)
  values (
    new.id,
    new.organization_id,
    coalesce(new.ended_at, new.created_at),
    coalesce(new.ended_at, new.created_at)
  )
  on conflict do nothing;
  return null;
end
$$;
create trigger runs_completed after update on runs for each row
  when (old.state <> 'completed' and new.state = 'completed')
  execute function note_afterwork();

create table deliveries (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations on delete cascade,
  workflow_id bigint not null references workflows on delete cascade,
  run_id bigint not null references runs on delete cascade,
  -- The webhook node, and its name at that time.
  node_id text not null,
  node_name text not null,
  method text not null,
  url text not null,
  -- Pairs of name and value, without any that hold secrets.
  headers json not null,
  -- Resolved when it is sent; its secret is never here.
  credential_uuid text,
  -- The body's bytes as they are signed; null for methods without one.
  body text,
  state text not null check (state in ('pending', 'sending', 'delivered', 'dead_letter')),
  -- Since it was made or sent once more by hand.
  attempts integer not null default 0,
  -- How often it was taken up: tells a process that its lease has passed to another.
  claims integer not null default 0,
  -- Not before this; while it is being sent, the end of the lease. Null once it is over.
  due_at timestamptz,
  created_at timestamptz not null,
  attempted_at timestamptz,
  finished_at timestamptz,
  response_status integer,
  response_excerpt text,
  error text,
  constraint deliveries_node unique (run_id, node_id),
  constraint deliveries_due check ((due_at is null) = (state in ('delivered', 'dead_letter')))
);
create index deliveries_open on deliveries (organization_id, due_at) where due_at is not null;
create index deliveries_list on deliveries (organization_id, id desc);
create index deliveries_state on deliveries (organization_id, state, id desc);

create table signing_secrets (
  organization_id bigint primary key references organizations on delete cascade,
  -- Sealed.
  secret text not null,
  prefix text not null,
  created_at timestamptz not null,
  -- The one before, sealed, and until when it signs as well.
  former text,
  former_until timestamptz,
  constraint signing_secrets_former check ((former is null) = (former_until is null))
);
