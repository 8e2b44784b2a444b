-- Campaigns: an agent that calls a list of contacts.

create table campaigns (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations on delete cascade,
  workflow_id bigint not null references workflows on delete cascade,
  -- Null: the organization's default. A configuration in use is not deleted.
  configuration_id bigint constraint campaigns_configuration references telephony_configurations,
  name text not null,
  state text not null
    check (state in ('created', 'syncing', 'running', 'paused', 'completed', 'failed')),
  -- Storage key of the contact file.
  source_id text not null,
  source_sync text not null
    check (source_sync in ('pending', 'in_progress', 'completed', 'failed')),
  source_synced_at timestamptz,
  source_error text,
  -- Until when the process that reads the file need not be replaced.
  sync_lease_until timestamptz,
  total_rows integer,
  retry json not null,
  max_concurrency integer,
  schedule json,
  breaker json,
  rate_per_second integer not null check (rate_per_second between 1 and 1000),
  -- The campaign whose unreached contacts this one calls; each is redialed once.
  parent_campaign_id bigint
    constraint campaigns_parent unique references campaigns on delete set null,
  -- Newest last.
  logs jsonb not null default '[]',
  created_at timestamptz not null,
  started_at timestamptz,
  completed_at timestamptz
);
create index campaigns_organization on campaigns (organization_id, created_at desc, id desc);
create index campaigns_configuration_id on campaigns (configuration_id);
create index campaigns_workflow on campaigns (workflow_id);
create index campaigns_live on campaigns (id) where state in ('syncing', 'running');
create index campaigns_syncing on campaigns (id) where source_sync = 'in_progress';
