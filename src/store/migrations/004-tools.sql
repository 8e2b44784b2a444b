-- What agents may use in calls: tools, and the credentials with which they call other systems.

create table credentials (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations on delete cascade,
  user_id bigint references users on delete set null,
  uuid text not null unique,
  name text not null,
  description text,
  type text not null
    check (type in ('none', 'api_key', 'bearer_token', 'basic_auth', 'custom_header')),
  -- Sealed as a whole; null once it is deleted.
  secret text,
  created_at timestamptz not null,
  updated_at timestamptz,
  deleted_at timestamptz,
  constraint credentials_deleted check ((secret is null) = (deleted_at is not null))
);
-- A name is free again once its credential is deleted.
create unique index credentials_name on credentials (organization_id, name)
  where deleted_at is null;
create index credentials_user on credentials (user_id) where user_id is not null;

create table tools (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations on delete cascade,
  user_id bigint references users on delete set null,
  uuid text not null unique,
  name text not null,
  description text,
  category text not null,
  icon text,
  icon_color text,
  status text not null check (status in ('active', 'archived', 'draft')),
  -- Without the values of headers, which are sealed as a whole; null if there are none.
  definition json not null,
  sealed_headers text,
  created_at timestamptz not null,
  updated_at timestamptz
);
create index tools_list on tools (organization_id, name, id);
create index tools_user on tools (user_id) where user_id is not null;
