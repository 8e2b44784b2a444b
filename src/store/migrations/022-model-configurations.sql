-- Which speech services an organization uses, and the older settings of single users. All of it is sealed: keys of
-- services are in many fields.

create table model_configurations (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations on delete cascade,
  -- Null: of the organization.
  user_id bigint references users on delete cascade,
  sealed text not null,
  -- Another one with every change of the content, so that processes may keep what they have opened.
  revision uuid not null,
  -- When the services last accepted the keys.
  validated_at timestamptz,
  updated_at timestamptz not null,
  unique nulls not distinct (organization_id, user_id)
);
