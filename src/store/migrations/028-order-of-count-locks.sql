-- Counts of runs are locked in one order, by who adds and by who subtracts: agent, campaign, and all days before the day.
-- An update joined to the lost runs locked them in whatever order its plan had: a campaign's dial that was given back and
-- another that began waited for each other, until the server ended one of them.
create or replace function discount_old_runs() returns trigger language plpgsql as $$
begin
  update run_counts set runs = run_counts.runs - held.lost
  from (
    select kept.workflow_id, kept.campaign_id, kept.day, lost.runs as lost
    from (
      select workflow_id, coalesce(campaign_id, 0) as campaign_id, each_day, count(*) as runs
      from old_runs, unnest(array['-infinity', (created_at at time zone 'UTC')::date]) as each_day
      group by 1, 2, 3
    ) as lost
    join run_counts as kept
      on kept.workflow_id = lost.workflow_id
        and kept.campaign_id = lost.campaign_id
        and kept.day = lost.each_day
    order by 1, 2, 3 for no key update of kept
  ) as held
  where run_counts.workflow_id = held.workflow_id
    and run_counts.campaign_id = held.campaign_id
    and run_counts.day = held.day;
  return null;
end
$$;
