// Dialog for a new agent: from a template, or from a file of JSON, as the page of an agent exports it or as a bare graph.

import { type FormEvent, type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { api, client } from '../../api/client.ts';
import { textOf } from '../../api/errors.ts';
import { counted } from '../../format.ts';
import { useAction } from '../../parts/action.tsx';
import { Dialog, FormEnd } from '../../parts/dialog.tsx';
import { Field, SelectField, TextField } from '../../parts/field.tsx';
import { Loaded } from '../../parts/notice.tsx';
import { type AgentFile, readAgentFile } from './agent-file.ts';
import { agentsChanged } from './agents-changed.ts';

type Way = 'template' | 'file';

const NAME_MAX = 255;

export function NewAgent({ onClose }: { onClose: () => void }) {
  const [way, setWay] = useState<Way>('template');
  return (
    <Dialog title="New agent" onClose={onClose}>
      <SelectField
        label="Start from"
        value={way}
        options={[
          { value: 'template', label: 'a template' },
          { value: 'file', label: 'a file (JSON)' },
        ]}
        onChange={({ target }) => setWay(target.value as Way)}
      />
      {way === 'template' ? <FromTemplate onClose={onClose} /> : <FromFile onClose={onClose} />}
    </Dialog>
  );
}

function FromTemplate({ onClose }: { onClose: () => void }) {
  const templates = api.useQuery('get', '/api/v1/workflow/templates', {
    params: { query: { summary: true } },
  });
  const [chosen, setChosen] = useState<string>();
  const [name, setName] = useState('');
  return (
    <Loaded query={templates}>
      {(all) => {
        const template = all.find(({ id }) => id === chosen) ?? all[0];
        if (template === undefined) return <p className="empty">This gateway has no template.</p>;
        const create = async () => {
          const { data } = await client.POST('/api/v1/workflow/templates/duplicate', {
            body: {
              template_id: template.id,
              workflow_name: name.trim() === '' ? template.template_name : name,
            },
          });
          return data?.id;
        };
        return (
          <CreateForm onCreate={create} onClose={onClose}>
            <SelectField
              label="Template"
              value={template.id}
              hint={template.template_description}
              options={all.map(({ id, template_name: label }) => ({ value: id, label }))}
              onChange={({ target }) => setChosen(target.value)}
            />
            <TextField
              label="Name"
              value={name}
              maxLength={NAME_MAX}
              placeholder={template.template_name}
              onChange={({ target }) => setName(target.value)}
            />
          </CreateForm>
        );
      }}
    </Loaded>
  );
}

function FromFile({ onClose }: { onClose: () => void }) {
  const [file, setFile] = useState<AgentFile>();
  const [name, setName] = useState('');
  const [fault, setFault] = useState<string>();
  const read = async (chosen: File | undefined) => {
    setFile(undefined);
    setFault(undefined);
    if (chosen === undefined) return;
    try {
      const agent = await readAgentFile(chosen);
      setFile(agent);
      setName(agent.name);
    } catch (error) {
      setFault(textOf(error));
    }
  };
  return (
    <CreateForm
      onCreate={async () => (file === undefined ? undefined : importAgent(file, name))}
      isReady={file !== undefined}
      onClose={onClose}
    >
      <Field
        label="File"
        hint="An export of an agent, or its graph alone: an object with nodes and edges. At most 1 MB."
        error={fault}
      >
        {(ids) => (
          <input
            type="file"
            accept=".json,application/json"
            onChange={({ target }) => void read(target.files?.[0])}
            {...ids}
          />
        )}
      </Field>
      {file !== undefined && (
        <>
          <p className="hint">{summaryOf(file)}</p>
          <TextField
            label="Name"
            value={name}
            maxLength={NAME_MAX}
            required
            onChange={({ target }) => setName(target.value)}
          />
        </>
      )}
    </CreateForm>
  );
}

function summaryOf({ definition, settings, variables }: AgentFile): string {
  const count = (values: object) => Object.keys(values).length;
  const counts = [
    counted(definition.nodes.length, 'node'),
    counted(definition.edges.length, 'edge'),
    counted(count(settings), 'setting'),
    counted(count(variables), 'variable'),
  ];
  return `${counts.join(', ')}.`;
}

/** The id of the new agent. Throws if the agent is refused; an agent whose settings are refused stays. */
async function importAgent({ definition, settings, variables }: AgentFile, name: string) {
  const { data } = await client.POST('/api/v1/workflow/create/definition', {
    body: { name, workflow_definition: definition },
  });
  const id = data?.id;
  if (id === undefined || Object.keys({ ...settings, ...variables }).length === 0) return id;
  const params = { path: { workflow_id: id } };
  try {
    await client.PUT('/api/v1/workflow/{workflow_id}', {
      params,
      body: { workflow_configurations: settings, template_context_variables: variables },
    });
    await client.POST('/api/v1/workflow/{workflow_id}/publish', { params });
  } catch (error) {
    await agentsChanged();
    throw new Error(
      `The agent ${name} was made, but its settings and variables are not published: ${textOf(error)}`,
    );
  }
  return id;
}

function CreateForm({
  onCreate,
  isReady = true,
  onClose,
  children,
}: {
  /** Resolves with the id of the new agent. */
  onCreate: () => Promise<string | undefined>;
  isReady?: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  const { run, isBusy, notice } = useAction();
  const [, navigate] = useLocation();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(async () => {
      const id = await onCreate();
      await agentsChanged();
      if (id !== undefined) navigate(`/agents/${id}`);
    });
  };
  return (
    <form onSubmit={submit}>
      {children}
      <FormEnd notice={notice} action="Create" isDisabled={isBusy || !isReady} onClose={onClose} />
    </form>
  );
}
