-- Lists of runs name their total, and go far back page by page: how many runs there are is kept by the database,
-- in the transactions in which runs come and go.

create table run_counts (
  organization_id bigint not null,
  workflow_id bigint not null references workflows on delete cascade,
  -- 0: of no campaign.
  campaign_id bigint not null,
  -- Of their beginning, by UTC; -infinity: of all days.
  day date not null,
  runs bigint not null,
  primary key (workflow_id, campaign_id, day)
) with (fillfactor = 50);
create index run_counts_organization on run_counts (organization_id, day);
create index run_counts_campaign on run_counts (campaign_id, day) where campaign_id <> 0;

-- The row of all days first: who holds it has all rows of that agent and campaign to himself.
create function count_new_runs() returns trigger language plpgsql as $$
begin
  insert into run_counts (organization_id, workflow_id, campaign_id, day, runs)
  select organization_id, workflow_id, coalesce(campaign_id, 0), each_day, count(*)
  from fresh, unnest(array['-infinity', (created_at at time zone 'UTC')::date]) as each_day
  group by 1, 2, 3, 4 order by 2, 3, 4
  on conflict (workflow_id, campaign_id, day) do update set runs = run_counts.runs + excluded.runs;
  return null;
end
$$;
create trigger runs_counted after insert on runs referencing new table as fresh
  for each statement execute function count_new_runs();

-- Rows may be gone already: of an agent that is deleted with its runs.
create function discount_old_runs() returns trigger language plpgsql as $$
begin
  update run_counts set runs = run_counts.runs - lost.runs
  from (
    select workflow_id, coalesce(campaign_id, 0) as campaign_id, each_day, count(*) as runs
    from old_runs, unnest(array['-infinity', (created_at at time zone 'UTC')::date]) as each_day
    group by 1, 2, 3 order by 1, 2, 3
  ) as lost
  where run_counts.workflow_id = lost.workflow_id
    and run_counts.campaign_id = lost.campaign_id
    and run_counts.day = lost.each_day;
  return null;
end
$$;
create trigger runs_discounted after delete on runs referencing old table as old_runs
  for each statement execute function discount_old_runs();

-- A deleted campaign leaves runs that are of none.
create function count_runs_of_no_campaign() returns trigger language plpgsql as $$
begin
  insert into run_counts (organization_id, workflow_id, campaign_id, day, runs)
  select organization_id, workflow_id, 0, day, runs from run_counts as former
  where campaign_id = old.id
    and exists (select from workflows where workflows.id = former.workflow_id)
  order by workflow_id, day
  on conflict (workflow_id, campaign_id, day) do update set runs = run_counts.runs + excluded.runs;
  delete from run_counts where campaign_id = old.id;
  return null;
end
$$;
create trigger campaigns_deleted after delete on campaigns
  for each row execute function count_runs_of_no_campaign();

-- After the triggers, which keep writers away until all is done.
insert into run_counts (organization_id, workflow_id, campaign_id, day, runs)
select organization_id, workflow_id, coalesce(campaign_id, 0), each_day, count(*)
from runs, unnest(array['-infinity', (created_at at time zone 'UTC')::date]) as each_day
group by 1, 2, 3, 4;

-- The filters that people use together: total and page come out of the index alone.
create index runs_workflow_disposition_duration
  on runs (workflow_id, disposition, duration_s desc nulls last, id desc);
