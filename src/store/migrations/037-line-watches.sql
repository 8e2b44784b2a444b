-- Lines that the gateway tests by a call on a schedule (model/line-watch.ts), and what the last calls of each found.

create table line_watches (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations on delete cascade,
  configuration_id bigint not null references telephony_configurations on delete cascade,
  name text not null,
  kind text not null check (kind in ('pbx', 'number', 'trunk')),
  number text,
  context text,
  is_enabled boolean not null,
  interval_minutes integer not null,
  places integer,
  tests_keys boolean not null,
  -- A gateway that claims the line moves it on: whoever comes later finds nothing due.
  next_at timestamptz not null,
  state text not null default 'untested',
  fault text,
  failures integer not null default 0,
  -- Since when the state is as it is.
  since timestamptz,
  tested_at timestamptz,
  -- The gateway that made the last test call, and exports its result.
  tested_by text,
  message text,
  delay_ms integer,
  loss_share real,
  codec text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index line_watches_due on line_watches (next_at) where is_enabled;
create index line_watches_organization on line_watches (organization_id);
create index line_watches_configuration on line_watches (configuration_id);
create index line_watches_tested_by on line_watches (tested_by) where is_enabled;

create table line_tests (
  id bigint generated always as identity primary key,
  line_id bigint not null references line_watches on delete cascade,
  at timestamptz not null,
  fault text,
  message text not null,
  delay_ms integer,
  loss_share real,
  codec text
);
create index line_tests_line on line_tests (line_id, id desc);
