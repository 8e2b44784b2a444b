-- Faults of speech services that go on until their owner changes a key, an account or a setting: the last of each
-- service. A call in which the service works, an accepted key and a new configuration delete it.

create table service_faults (
  organization_id bigint not null references organizations on delete cascade,
  job text not null check (job in ('llm', 'tts', 'stt')),
  service text not null,
  kind text not null,
  -- The service's words, without secrets.
  detail text not null,
  -- The last call that met it.
  run_id bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (organization_id, job, service)
);
