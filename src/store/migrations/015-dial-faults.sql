-- Dials of which nobody knows whether a call was placed, contacts that are put off once it is proved that
-- none was, and providers that fail dial after dial.

alter table campaign_attempts
  -- Since when nobody knows whether the provider has placed the call; null where it was never in doubt.
  add column doubt_since timestamptz,
  -- When the provider's list was first read without the call.
  add column missed_at timestamptz,
  drop constraint campaign_attempts_outcome_check,
  add constraint campaign_attempts_outcome_check check (outcome in
    ('answered', 'voicemail', 'busy', 'no_answer', 'failed', 'canceled', 'error', 'unknown',
     'interrupted', 'not_placed'));

alter table campaign_contacts
  -- Dials since the last call that placed none, and when the first of them was put off.
  add column put_offs integer not null default 0,
  add column put_off_since timestamptz;

alter table telephony_configurations
  -- Dials that the provider has failed in a row, and when the next one may try whether it answers again.
  add column dial_faults integer not null default 0,
  add column probe_at timestamptz;

-- The configuration whose provider fails, while the campaign waits for it.
alter table campaigns add column waits_for_configuration_id bigint
  references telephony_configurations on delete set null;
create index campaigns_waiting on campaigns (waits_for_configuration_id)
  where waits_for_configuration_id is not null;
