-- Failed log-ins and sign-ups by address and by client, counted over all processes and kept over a restart; and the
-- clients from which an account has logged in. Old rows are deleted as new ones are added.

create table log_in_attempts (
  -- SHA-256 of what is counted, base64url: the table shows no address.
  name text primary key,
  attempts integer not null,
  ends_at timestamptz not null
);
create index log_in_attempts_ends on log_in_attempts (ends_at);
