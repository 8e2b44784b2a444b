-- A node is a name and the epoch of its process: what one process leaves is not taken for its next one's.

-- Null: of a version that knew no epochs.
alter table nodes add column epoch bigint;
alter table runs add column owner_epoch bigint;
