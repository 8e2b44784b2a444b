-- The library of recorded speech: what agents play in place of synthesized words.

create table clips (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations on delete cascade,
  -- Null: for every agent of the organization.
  workflow_id bigint references workflows on delete set null,
  user_id bigint references users on delete set null,
  -- The name by which agents refer to it.
  name text not null,
  transcript text not null,
  storage_key text not null,
  -- The voice that it goes with, if any.
  tts_provider text,
  tts_model text,
  tts_voice_id text,
  metadata json not null,
  is_active boolean not null default true,
  created_at timestamptz not null
);
-- A name is free again once its clip is deleted.
create unique index clips_name on clips (organization_id, name) where is_active;
create index clips_workflow on clips (workflow_id) where workflow_id is not null;
create index clips_user on clips (user_id) where user_id is not null;
