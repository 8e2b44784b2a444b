-- Users who log in, what an organization prefers, and how fast a telephony configuration may dial.

alter table users
  -- Null for one who gave none.
  alter column name drop not null,
  -- Lower-cased. Null for a user who only has keys; so is the password then.
  add column email text unique,
  -- With the parameters that made it; see api/passwords.ts.
  add column password_hash text,
  add column onboarding jsonb not null default '{}',
  add constraint users_login check ((email is null) = (password_hash is null));

alter table organizations
  add column test_phone_number text,
  -- Name in the IANA database.
  add column timezone text,
  add column external_pbx_integrations_enabled boolean not null default false;

alter table telephony_configurations
  -- Null: no limit of its own.
  add column calls_per_second integer check (calls_per_second between 1 and 1000);
