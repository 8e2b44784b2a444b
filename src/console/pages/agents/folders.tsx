// Dialogs of folders: to make, rename and delete them, and to put an agent into one.

import { type FormEvent, useState } from 'react';
import { client, invalidatePaths, type Schema } from '../../api/client.ts';
import { useAction } from '../../parts/action.tsx';
import { Dialog, FormDialog } from '../../parts/dialog.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { agentsChanged } from './agents-changed.ts';

type Folder = Schema<'FolderResponse'>;

const NAME_MAX = 100;

export function FolderList({
  folders,
  onClose,
}: {
  folders: readonly Folder[];
  onClose: () => void;
}) {
  const { run, isBusy, notice } = useAction();
  const [name, setName] = useState('');
  const change = (action: () => Promise<unknown>) =>
    run(async () => {
      await action();
      await invalidatePaths('/api/v1/folder', '/api/v1/workflow/');
    });
  const create = async (event: FormEvent) => {
    event.preventDefault();
    if (await change(() => client.POST('/api/v1/folder', { body: { name } }))) setName('');
  };
  return (
    <Dialog title="Folders" onClose={onClose}>
      {notice}
      {folders.length === 0 && <p className="empty">There is no folder yet.</p>}
      <ul className="folder-list">
        {folders.map((folder) => (
          <FolderRow key={folder.id} folder={folder} isBusy={isBusy} onChange={change} />
        ))}
      </ul>
      <form className="filters" onSubmit={create}>
        <TextField
          label="New folder"
          value={name}
          maxLength={NAME_MAX}
          required
          onChange={({ target }) => setName(target.value)}
        />
        <button type="submit" disabled={isBusy}>
          Create
        </button>
      </form>
    </Dialog>
  );
}

function FolderRow({
  folder: { id, name },
  isBusy,
  onChange,
}: {
  folder: Folder;
  isBusy: boolean;
  onChange: (action: () => Promise<unknown>) => Promise<boolean>;
}) {
  const [text, setText] = useState(name);
  const params = { path: { folder_id: id } };
  const rename = (event: FormEvent) => {
    event.preventDefault();
    void onChange(() => client.PUT('/api/v1/folder/{folder_id}', { params, body: { name: text } }));
  };
  return (
    <li>
      <form className="filters" onSubmit={rename}>
        <TextField
          label={`Name of ${name}`}
          value={text}
          maxLength={NAME_MAX}
          required
          onChange={({ target }) => setText(target.value)}
        />
        <button type="submit" disabled={isBusy || text === name}>
          Rename
        </button>
        <button
          type="button"
          className="danger"
          disabled={isBusy}
          onClick={() =>
            void onChange(() => client.DELETE('/api/v1/folder/{folder_id}', { params }))
          }
        >
          Delete {name}
        </button>
      </form>
    </li>
  );
}

const NO_FOLDER = '';

export function MoveToFolder({
  agent,
  folders,
  onClose,
}: {
  agent: Schema<'WorkflowListResponse'>;
  folders: readonly Folder[];
  onClose: () => void;
}) {
  const [folder, setFolder] = useState(agent.folder_id ?? NO_FOLDER);
  const move = async () => {
    await client.PUT('/api/v1/workflow/{workflow_id}/folder', {
      params: { path: { workflow_id: agent.id } },
      body: { folder_id: folder === NO_FOLDER ? null : folder },
    });
    await agentsChanged();
  };
  return (
    <FormDialog title={`Folder of ${agent.name}`} action="Move" onSubmit={move} onClose={onClose}>
      <SelectField
        label="Folder"
        value={folder}
        hint={folders.length === 0 ? 'There is no folder yet: “Folders” makes one.' : undefined}
        options={[
          { value: NO_FOLDER, label: 'in no folder' },
          ...folders.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onChange={({ target }) => setFolder(target.value)}
      />
    </FormDialog>
  );
}
