-- Folders that agents are filed in, and which secrets inside an agent's content are sealed.

create table workflow_folders (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organizations on delete cascade,
  name text not null,
  created_at timestamptz not null,
  constraint workflow_folders_name unique (organization_id, name),
  -- For the key below: an agent is filed in a folder of its own organization.
  constraint workflow_folders_of unique (organization_id, id)
);

alter table workflows
  add column folder_id bigint,
  add constraint workflows_folder
    foreign key (organization_id, folder_id) references workflow_folders (organization_id, id)
    on delete set null (folder_id);
create index workflows_folder_id on workflows (folder_id);

-- Places in `definition` and `configurations` that hold sealed text, each a path as JSON text that begins
-- with the column.
alter table workflow_versions add column sealed_fields text[] not null default '{}';
