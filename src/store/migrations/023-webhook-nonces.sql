-- Nonces of providers' webhooks that were taken, so that a recorded webhook is refused the second time, also after a
-- restart. Old rows are deleted as new ones are added.

create table webhook_nonces (
  provider text not null,
  nonce text not null,
  -- SHA-256 of method, URL and body, hexadecimal: the same for a repeated delivery.
  content text not null,
  seen_at timestamptz not null,
  primary key (provider, nonce)
);
create index webhook_nonces_seen on webhook_nonces (seen_at);

-- Tells this installation's applications at a provider from those of another one with the same account. One row.
create table installations (
  id text primary key
);
insert into installations (id) values (substr(md5(random()::text || clock_timestamp()::text), 1, 12));
