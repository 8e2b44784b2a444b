// The organization's API keys: the list, a new one that is shown once, archiving and reactivating.

import { type FormEvent, useState } from 'react';
import { api, client, invalidatePaths, type Schema } from '../../api/client.ts';
import { formatTime } from '../../format.ts';
import { useAction } from '../../parts/action.tsx';
import { Code } from '../../parts/copy.tsx';
import { Confirm, Dialog, FormEnd } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Badge, Loaded, Notice } from '../../parts/notice.tsx';
import { type Column, Page, Table, Tabs } from '../../parts/page.tsx';
import { SYSTEM_TABS } from './system-tabs.ts';

const KEYS = '/api/v1/user/api-keys';

type ApiKey = Schema<'APIKeyResponse'>;

export function KeysPage() {
  const [isCreating, setCreating] = useState(false);
  const [asked, setAsked] = useState<ApiKey>();
  const keys = api.useQuery('get', KEYS, {
    params: { query: { include_archived: true } },
  });
  const columns: Column<ApiKey>[] = [
    ...COLUMNS,
    {
      name: 'Action',
      cell: (key) => (
        <button type="button" onClick={() => setAsked(key)}>
          {key.archived_at === null ? 'Archive' : 'Reactivate'}
          <span className="hidden"> {key.name}</span>
        </button>
      ),
    },
  ];
  return (
    <Page
      title="System"
      actions={
        <button type="button" className="primary" onClick={() => setCreating(true)}>
          <Icon name="plus" size={16} />
          New key
        </button>
      }
    >
      <Tabs tabs={SYSTEM_TABS} at="/system/keys" />
      <Loaded query={keys}>
        {(listed) => (
          <Table
            caption="API keys"
            columns={columns}
            rows={listed}
            keyOf={({ id }) => id}
            empty="No keys: clients of the API need one."
          />
        )}
      </Loaded>
      {isCreating && <NewKey onClose={() => setCreating(false)} />}
      {asked !== undefined && <Change apiKey={asked} onClose={() => setAsked(undefined)} />}
    </Page>
  );
}

const COLUMNS: readonly Column<ApiKey>[] = [
  { name: 'Name', cell: ({ name }) => name },
  { name: 'Begins with', cell: ({ key_prefix: prefix }) => <code>{prefix}…</code> },
  {
    name: 'State',
    cell: ({ archived_at: at }) =>
      at === null ? <Badge tone="good">in use</Badge> : <Badge>archived</Badge>,
  },
  {
    name: 'Created',
    cell: ({ created_at: at }) => <span className="nowrap">{formatTime(at)}</span>,
  },
  {
    name: 'Last used',
    cell: ({ last_used_at: at }) =>
      at === null ? 'never' : <span className="nowrap">{formatTime(at)}</span>,
  },
];

function NewKey({ onClose }: { onClose: () => void }) {
  const { run, isBusy, notice } = useAction();
  const [created, setCreated] = useState<string>();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name')).trim();
    await run(async () => {
      const { data } = await client.POST(KEYS, { body: { name } });
      setCreated(data?.api_key);
      await invalidatePaths(KEYS);
    });
  };
  if (created !== undefined)
    return (
      <Dialog title="The new key" onClose={onClose}>
        <Notice tone="warn">It is shown this once: store it before you close this.</Notice>
        <Code text={created} name="API key" />
        <footer className="buttons">
          <button type="button" className="primary" onClick={onClose}>
            Done
          </button>
        </footer>
      </Dialog>
    );
  return (
    <Dialog title="New API key" onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <TextField
          label="Name"
          name="name"
          maxLength={255}
          pattern=".*\S.*"
          hint="What the key is for, such as the system that uses it."
          required
          autoFocus
        />
        <FormEnd notice={notice} action="Create the key" isDisabled={isBusy} onClose={onClose} />
      </form>
    </Dialog>
  );
}

function Change({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const isArchived = apiKey.archived_at !== null;
  const params = { path: { api_key_id: apiKey.id } };
  const change = async () => {
    if (isArchived) await client.PUT('/api/v1/user/api-keys/{api_key_id}/reactivate', { params });
    else await client.DELETE('/api/v1/user/api-keys/{api_key_id}', { params });
    await invalidatePaths(KEYS);
  };
  const action = isArchived ? 'Reactivate' : 'Archive';
  return (
    <Confirm
      title={`${action} “${apiKey.name}”?`}
      action={action}
      onConfirm={change}
      onClose={onClose}
    >
      <p>
        {isArchived
          ? 'Requests with this key are accepted again.'
          : 'Requests with this key are refused at once. A console that was opened with it is logged out. It can be reactivated.'}
      </p>
    </Confirm>
  );
}
