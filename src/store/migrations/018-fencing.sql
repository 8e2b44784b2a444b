-- Fencing: what a process that was declared dead still writes about a run that another has taken over is refused.

-- Of the processes from which the run was taken.
alter table runs add column fenced_epochs bigint[];

-- A process that was declared dead goes on under a new epoch; this is its first, by which its own processes know it.
-- Null: the same as `epoch`.
alter table nodes add column process_epoch bigint;
