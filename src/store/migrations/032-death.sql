-- What a process holds is free when the process is declared dead, and not only at the end of each lease.

-- The process that has claimed it; null: of a version that did not store it.
alter table afterworks add column claimed_node text;
alter table deliveries add column claimed_node text;
alter table campaigns add column sync_node text;

create index text_chats_held on text_chats (hold_node) where hold is not null;

-- Fencing number: how often the node has changed. A node that loses a lease and gets it back sees that others had it.
alter table configuration_leases add column epoch bigint not null default 1;

-- Whether the process dials campaigns: each campaign has one of these processes.
alter table nodes add column dials_campaigns boolean not null default false;
