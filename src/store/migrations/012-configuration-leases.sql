-- Which process holds the connection to the PBX of a telephony configuration, and until when: one at a
-- time, so that nobody takes a PBX's events from another.

create table configuration_leases (
  configuration_id bigint primary key references telephony_configurations on delete cascade,
  node text not null,
  lease_until timestamptz not null
);
