-- Everything the gateway stores, as of its first version. SQL of PostgreSQL 15 and later.
-- Instants are handed in by the process; nothing here reads the clock of the database.

create table organizations (
  id bigint generated always as identity primary key,
  -- Null but for the organization made on an empty database; unique, so that only one is made.
  slug text unique,
  name text not null,
  -- Null: the gateway's own limit.
  concurrent_call_limit integer check (concurrent_call_limit >= 0),
  created_at timestamptz not null
);

create table users (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations on delete cascade,
  name text not null,
  created_at timestamptz not null
);
create index users_organization on users (organization_id);

create table api_keys (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations on delete cascade,
  user_id bigint not null references users on delete cascade,
  name text not null,
  prefix text not null,
  -- SHA-256 of the whole key; the key itself is stored nowhere.
  key_hash bytea not null unique,
  is_active boolean not null default true,
  created_at timestamptz not null,
  last_used_at timestamptz,
  archived_at timestamptz
);
create index api_keys_organization on api_keys (organization_id);
create index api_keys_user on api_keys (user_id);

create table telephony_configurations (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations on delete cascade,
  name text not null,
  provider text not null,
  is_default_outbound boolean not null default false,
  -- Secret fields hold sealed text; sealed_fields says which, as dotted paths.
  credentials json not null,
  sealed_fields text[] not null,
  account_id text,
  inactive_since timestamptz,
  inactive_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint telephony_configurations_name unique (organization_id, name)
);
create unique index telephony_configurations_default
  on telephony_configurations (organization_id) where is_default_outbound;

create table workflows (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations on delete cascade,
  user_id bigint not null references users on delete cascade,
  uuid text not null unique,
  name text not null,
  status text not null check (status in ('active', 'archived')),
  disposition_codes text[] not null default '{}',
  -- The highest number ever given to a version.
  version_number_last integer not null,
  created_at timestamptz not null
);
create index workflows_organization on workflows (organization_id, created_at);

create table workflow_versions (
  id bigint generated always as identity primary key,
  workflow_id bigint not null references workflows on delete cascade,
  version_number integer not null,
  status text not null check (status in ('draft', 'published', 'archived')),
  -- json, not jsonb: clients get their keys back in their order.
  definition json not null,
  configurations json not null,
  template_context_variables json not null,
  trigger_paths text[] not null,
  created_at timestamptz not null,
  published_at timestamptz,
  constraint workflow_versions_number unique (workflow_id, version_number)
);
create unique index workflow_versions_published
  on workflow_versions (workflow_id) where status = 'published';
create unique index workflow_versions_draft
  on workflow_versions (workflow_id) where status = 'draft';

create table workflow_triggers (
  path text primary key,
  workflow_id bigint not null references workflows on delete cascade,
  is_active boolean not null
);
create index workflow_triggers_workflow on workflow_triggers (workflow_id);

create table phone_numbers (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations on delete cascade,
  configuration_id bigint not null references telephony_configurations on delete cascade,
  -- Copies of the configuration's, so that one index keeps inbound routes unique.
  provider text not null,
  account_id text,
  address text not null,
  address_normalized text not null,
  address_type text not null check (address_type in ('pstn', 'sip_uri', 'sip_extension')),
  country_code text,
  label text,
  inbound_workflow_id bigint references workflows on delete set null,
  is_active boolean not null,
  is_default_caller_id boolean not null,
  extra_metadata json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint phone_numbers_address unique (organization_id, address_normalized)
);
create unique index phone_numbers_route
  on phone_numbers (provider, account_id, address_normalized) where account_id is not null;
create unique index phone_numbers_default_caller
  on phone_numbers (configuration_id) where is_default_caller_id;
create index phone_numbers_configuration on phone_numbers (configuration_id);
create index phone_numbers_workflow on phone_numbers (inbound_workflow_id);

-- Gateway processes that are alive, each under its own name.
create table nodes (
  name text primary key,
  started_at timestamptz not null,
  seen_at timestamptz not null
);

create table runs (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations on delete cascade,
  workflow_id bigint not null references workflows on delete cascade,
  definition_id bigint not null references workflow_versions on delete cascade,
  name text not null,
  mode text not null,
  call_type text not null check (call_type in ('inbound', 'outbound')),
  state text not null check (state in ('initialized', 'running', 'completed')),
  configuration_id bigint references telephony_configurations on delete set null,
  provider_call_id text,
  -- The process that runs the call.
  owner_node text not null,
  initial_context jsonb not null,
  gathered_context jsonb not null,
  usage_info jsonb,
  cost_info jsonb,
  logs jsonb not null,
  annotations jsonb not null,
  disposition text,
  duration_s double precision,
  recording_key text,
  transcript_key text,
  public_access_token text unique,
  created_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz
);
-- Two for the two orders of a list by length, as null stands last in both.
create index runs_workflow_created on runs (workflow_id, created_at desc, id desc);
create index runs_workflow_longest on runs (workflow_id, duration_s desc nulls last, id desc);
create index runs_workflow_shortest on runs (workflow_id, duration_s, id);
create index runs_workflow_disposition on runs (workflow_id, disposition, created_at desc, id desc);
create index runs_open on runs (organization_id, workflow_id) where state <> 'completed';
create index runs_provider_call on runs (configuration_id, provider_call_id);
create index runs_definition on runs (definition_id);

create table run_events (
  run_id bigint not null references runs on delete cascade,
  seq integer not null check (seq >= 1),
  -- Milliseconds since 1970.
  at bigint not null,
  media_ms double precision not null,
  body json not null,
  primary key (run_id, seq)
);

create table run_callbacks (
  run_id bigint not null references runs on delete cascade,
  dedupe_key text not null,
  primary key (run_id, dedupe_key)
);
