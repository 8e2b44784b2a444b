-- Contacts have the number of their retries by reason, so that a campaign is counted in pieces of its contacts alone.

alter table campaign_contacts
  add column busy_retries integer not null default 0,
  add column no_answer_retries integer not null default 0,
  add column voicemail_retries integer not null default 0;

update campaign_contacts set
  busy_retries = made.busy, no_answer_retries = made.no_answer, voicemail_retries = made.voicemail
from (
  select contact_id, count(*) filter (where retry_reason = 'busy') as busy,
    count(*) filter (where retry_reason = 'no_answer') as no_answer,
    count(*) filter (where retry_reason = 'voicemail') as voicemail
  from campaign_attempts where retry_reason in ('busy', 'no_answer', 'voicemail')
  group by contact_id
) as made
where made.contact_id = campaign_contacts.id;
drop index campaign_attempts_retries;
