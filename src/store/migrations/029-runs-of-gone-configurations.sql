-- A run keeps the id of its telephony configuration when that is deleted, as the number of a configuration that is there no
-- more: ids are never given again. The foreign key made the deletion a rewrite of all its runs: in one statement it never
-- ended where there were many, and in pieces a kill in between left a configuration that had lost some of its runs.
alter table runs drop constraint runs_configuration_id_fkey;
