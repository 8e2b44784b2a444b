// The list of agents: search, folders, archive, and the ways to a new one.

import './agents.css';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, type Schema } from '../../api/client.ts';
import { textOf } from '../../api/errors.ts';
import { formatNumber, formatTime } from '../../format.ts';
import { useAction } from '../../parts/action.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { Badge, Loaded, Notice } from '../../parts/notice.tsx';
import { type Column, Page, Table } from '../../parts/page.tsx';
import { setStatus } from './agents-changed.ts';
import { ArchiveAgent } from './archive-agent.tsx';
import { FolderList, MoveToFolder } from './folders.tsx';
import { NewAgent } from './new-agent.tsx';

type Agent = Schema<'WorkflowListResponse'>;
type Folder = Schema<'FolderResponse'>;
type Asked =
  | { what: 'new' }
  | { what: 'folders' }
  | { what: 'archive' | 'move'; agent: Agent }
  | undefined;

/** Agents that are shown at once: further ones are found by the search. */
const SHOWN_MAX = 200;
const LIST = '/api/v1/workflow/fetch';
const ALL = 'all';
const NONE = 'none';

export function AgentsPage() {
  const agents = api.useQuery('get', LIST, { params: { query: {} } });
  const folders = api.useQuery('get', '/api/v1/folder');
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  return (
    <Page
      title="Agents"
      actions={
        <>
          <button type="button" onClick={() => setAsked({ what: 'folders' })}>
            Folders
          </button>
          <button type="button" className="primary" onClick={() => setAsked({ what: 'new' })}>
            New agent
          </button>
        </>
      }
    >
      {folders.error !== null && (
        <Notice tone="warn">The folders cannot be read: {textOf(folders.error)}</Notice>
      )}
      <Loaded query={agents}>
        {(all) => <AgentList agents={all} folders={folders.data ?? []} onAsk={setAsked} />}
      </Loaded>
      {asked?.what === 'new' && <NewAgent onClose={close} />}
      {asked?.what === 'folders' && <FolderList folders={folders.data ?? []} onClose={close} />}
      {asked?.what === 'move' && (
        <MoveToFolder agent={asked.agent} folders={folders.data ?? []} onClose={close} />
      )}
      {asked?.what === 'archive' && <ArchiveAgent agent={asked.agent} onClose={close} />}
    </Page>
  );
}

function AgentList({
  agents,
  folders,
  onAsk,
}: {
  agents: readonly Agent[];
  folders: readonly Folder[];
  onAsk: (asked: Asked) => void;
}) {
  const [words, setWords] = useState('');
  const [status, setStatusShown] = useState<string>('active');
  const [folder, setFolder] = useState(ALL);
  const { run, notice } = useAction();
  const found = agents.filter(
    (agent) =>
      agent.name.toLowerCase().includes(words.trim().toLowerCase()) &&
      (status === ALL || agent.status === status) &&
      (folder === ALL || (agent.folder_id ?? NONE) === folder),
  );
  const shown = found.slice(0, SHOWN_MAX);
  const takeBack = (agent: Agent) => run(() => setStatus(agent.id, 'active'));
  return (
    <>
      <search className="filters">
        <TextField
          label="Name"
          type="search"
          value={words}
          onChange={({ target }) => setWords(target.value)}
        />
        <SelectField
          label="Status"
          value={status}
          options={[
            { value: 'active', label: 'active' },
            { value: 'archived', label: 'archived' },
            { value: ALL, label: 'all' },
          ]}
          onChange={({ target }) => setStatusShown(target.value)}
        />
        <SelectField
          label="Folder"
          value={folder}
          options={[
            { value: ALL, label: 'all' },
            { value: NONE, label: 'in no folder' },
            ...folders.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={({ target }) => setFolder(target.value)}
        />
      </search>
      {notice}
      <Table
        caption="Agents"
        columns={columnsOf(folders, { onAsk, onTakeBack: (agent) => void takeBack(agent) })}
        rows={shown}
        keyOf={({ id }) => id}
        empty={
          agents.length === 0
            ? 'There is no agent yet. Create one from a template with “New agent”.'
            : 'No agent matches. Change the name, the status or the folder above.'
        }
      />
      {found.length > shown.length && (
        <Notice tone="info">
          {`The first ${SHOWN_MAX} of ${formatNumber(found.length)} agents are shown. Search by name for the others.`}
        </Notice>
      )}
    </>
  );
}

function columnsOf(
  folders: readonly Folder[],
  { onAsk, onTakeBack }: { onAsk: (asked: Asked) => void; onTakeBack: (agent: Agent) => void },
): Column<Agent>[] {
  const names = new Map(folders.map(({ id, name }) => [id, name]));
  return [
    { name: 'Name', cell: ({ id, name }) => <Link href={`/agents/${id}`}>{name}</Link> },
    {
      name: 'Status',
      cell: ({ status }) => <Badge tone={status === 'active' ? 'good' : 'plain'}>{status}</Badge>,
    },
    { name: 'Version', cell: versionOf },
    { name: 'Folder', cell: ({ folder_id: id }) => (id === null ? '' : names.get(id)) },
    {
      name: 'Runs',
      isNumber: true,
      cell: ({ id, total_runs: runs }) => (
        <Link href={`/runs?agent=${id}`}>{formatNumber(runs)}</Link>
      ),
    },
    { name: 'Created', cell: ({ created_at: at }) => formatTime(at) },
    {
      name: 'Actions',
      cell: (agent) => (
        <Menu label={`Actions for ${agent.name}`} isLabelHidden>
          <MenuItem onSelect={() => onAsk({ what: 'move', agent })}>Move to a folder</MenuItem>
          {agent.status === 'active' ? (
            <MenuItem onSelect={() => onAsk({ what: 'archive', agent })}>Archive</MenuItem>
          ) : (
            <MenuItem onSelect={() => onTakeBack(agent)}>Restore from the archive</MenuItem>
          )}
        </Menu>
      ),
    },
  ];
}

function versionOf({ published_version: version, has_draft: hasDraft }: Agent) {
  return (
    <>
      {version === null ? 'none published' : version}
      {hasDraft && (
        <>
          {' '}
          <Badge tone="info">draft</Badge>
        </>
      )}
    </>
  );
}
