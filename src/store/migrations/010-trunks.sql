-- Trunks of telephony configurations, and the numbers that go over them.

create table telephony_trunks (
  id bigint generated always as identity primary key,
  configuration_id bigint not null references telephony_configurations on delete cascade,
  name text not null,
  enabled boolean not null,
  settings json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint telephony_trunks_name unique (configuration_id, name),
  -- For the key below: a number goes over a trunk of its own configuration.
  constraint telephony_trunks_of unique (configuration_id, id)
);

alter table phone_numbers
  add column trunk_id bigint,
  add constraint phone_numbers_trunk
    foreign key (configuration_id, trunk_id) references telephony_trunks (configuration_id, id);
create index phone_numbers_trunk_id on phone_numbers (trunk_id);
