-- The contacts of campaigns and every attempt to call one: the queue that campaigns dial from.

create table campaign_contacts (
  id bigint generated always as identity primary key,
  campaign_id bigint not null references campaigns on delete cascade,
  -- Line of the contact file, from 2.
  row_number integer not null,
  -- E.164.
  phone_number text not null,
  variables json not null,
  -- fresh: not called yet. waiting: to be called again. calling: an attempt is under way.
  state text not null default 'fresh'
    check (state in ('fresh', 'waiting', 'calling', 'reached', 'failed')),
  -- Attempts made, the one under way included.
  attempts integer not null default 0,
  -- Those that our own process broke off before anybody answered.
  interruptions integer not null default 0,
  -- Not called before. Of contacts that are called or finished without meaning.
  due_at timestamptz not null,
  retry_reason text check (retry_reason in ('busy', 'no_answer', 'voicemail', 'interrupted')),
  last_outcome text,
  constraint campaign_contacts_row unique (campaign_id, row_number)
);
create index campaign_contacts_due on campaign_contacts (campaign_id, state, due_at, id)
  where state in ('fresh', 'waiting');
-- Counting reads nothing else.
create index campaign_contacts_counts
  on campaign_contacts (campaign_id, state, attempts, retry_reason);

create table campaign_attempts (
  id bigint generated always as identity primary key,
  campaign_id bigint not null references campaigns on delete cascade,
  contact_id bigint not null references campaign_contacts on delete cascade,
  -- From 1 for each contact.
  number integer not null check (number >= 1),
  -- Why it was made again; null for the first.
  retry_reason text,
  -- claimed: nothing was sent. dialling: the request may have been sent. placed: the provider has the
  -- call. ended: has an outcome.
  state text not null check (state in ('claimed', 'dialling', 'placed', 'ended')),
  run_id bigint unique references runs on delete set null,
  -- The process that has claimed it, and when its claim lapses.
  node text not null,
  lease_until timestamptz not null,
  -- Its turn in the pace of calls.
  dial_at timestamptz not null,
  outcome text check (outcome in
    ('answered', 'voicemail', 'busy', 'no_answer', 'failed', 'canceled', 'error', 'unknown',
     'interrupted')),
  ended_at timestamptz,
  constraint campaign_attempts_number unique (contact_id, number),
  check ((state = 'ended') = (outcome is not null))
);
-- Nobody is called twice at a time, whatever the processes do.
create unique index campaign_attempts_live on campaign_attempts (contact_id) where state <> 'ended';
create index campaign_attempts_open on campaign_attempts (campaign_id, state) where state <> 'ended';
create index campaign_attempts_ended on campaign_attempts (campaign_id, ended_at)
  where state = 'ended';
create index campaign_attempts_retries on campaign_attempts (campaign_id, retry_reason)
  where retry_reason is not null;

-- Of calls placed by a campaign.
alter table runs add column campaign_id bigint references campaigns on delete set null;
create index runs_campaign_created on runs (campaign_id, created_at desc, id desc)
  where campaign_id is not null;
create index runs_campaign_longest on runs (campaign_id, duration_s desc nulls last, id desc)
  where campaign_id is not null;
create index runs_campaign_shortest on runs (campaign_id, duration_s, id)
  where campaign_id is not null;

-- When the next call may go out, by the calls per second that each of them is set to.
alter table campaigns add column dial_next_at timestamptz;
alter table telephony_configurations add column dial_next_at timestamptz;
-- Outcomes before this moment do not count for the breaker.
alter table campaigns add column breaker_since timestamptz;
