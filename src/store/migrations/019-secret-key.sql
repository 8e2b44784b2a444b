-- By which key the secrets in this database are sealed: a node without it would store what others cannot read, and
-- could not read theirs.

create table secret_key_check (
  is_only boolean primary key default true check (is_only),
  -- As sealed texts name it.
  key_id text not null,
  -- Derived from the key, of which it tells nothing.
  proof text not null
);
