-- Campaigns that were cancelled, and ended ones that clients have deleted.

alter table campaigns
  drop constraint campaigns_state_check,
  add constraint campaigns_state_check check (state in
    ('created', 'syncing', 'running', 'paused', 'completed', 'failed', 'cancelled')),
  -- Shown to nobody since then. The row stays: runs and reports refer to it.
  add column deleted_at timestamptz;
