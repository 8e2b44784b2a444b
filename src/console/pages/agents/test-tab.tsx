// Tests of an agent: a chat in writing, and a call by the browser's microphone. Both use the draft, if there is one.

import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { api, type Schema } from '../../api/client.ts';
import { useAction } from '../../parts/action.tsx';
import { TextArea } from '../../parts/field.tsx';
import { objectIn } from '../../parts/json-object.ts';
import { Loaded, Notice } from '../../parts/notice.tsx';
import { Section } from '../../parts/page.tsx';
import { TalkPanel } from '../../talk/talk-panel.tsx';
import { startChat, TextChat } from './text-chat.tsx';

type AgentDetail = Schema<'WorkflowResponse'>;

export function TestTab({ agent }: { agent: AgentDetail }) {
  const [search, setSearch] = useSearchParams();
  const runId = search.get('chat');
  const version = `${agent.version_status === 'draft' ? 'draft' : 'published version'} ${agent.version_number ?? ''}`;
  return (
    <>
      <Section title={`Call the ${version}`}>
        <TalkPanel workflowId={agent.id} draft />
      </Section>
      <Section title={`Chat with the ${version}`}>
        {runId === null ? (
          <StartChat agent={agent} onStarted={(id) => setSearch({ chat: id })} />
        ) : (
          <StoredChat agent={agent} runId={runId} onLeave={() => setSearch({})} />
        )}
      </Section>
    </>
  );
}

/** Begins a chat with the values of the agent's template variables, which can be changed first. */
function StartChat({
  agent: { id, template_context_variables: variables, status },
  onStarted,
}: {
  agent: AgentDetail;
  onStarted: (runId: string) => void;
}) {
  const { run, isBusy, notice } = useAction();
  const [context, setContext] = useState(() => JSON.stringify(variables, null, 2));
  const values = objectIn(context);
  const start = () =>
    run(async () => {
      if (values !== undefined) onStarted(await startChat(id, values));
    });
  return (
    <>
      {status === 'archived' && (
        <Notice tone="warn">The agent is archived: restore it to test it.</Notice>
      )}
      <TextArea
        label="Values of variables (JSON)"
        className="code-input"
        value={context}
        rows={Math.min(12, context.split('\n').length + 1)}
        spellCheck={false}
        error={
          values === undefined ? 'This is not an object in JSON, as {"name": "Ada"}.' : undefined
        }
        hint="As the request that starts a call would send them."
        onChange={({ target }) => setContext(target.value)}
      />
      {notice}
      <div className="buttons">
        <button
          type="button"
          className="primary"
          disabled={isBusy || values === undefined}
          onClick={() => void start()}
        >
          {isBusy ? 'Starting the chat …' : 'Start the chat'}
        </button>
      </div>
    </>
  );
}

function StoredChat({
  agent,
  runId,
  onLeave,
}: {
  agent: AgentDetail;
  runId: string;
  onLeave: () => void;
}) {
  const chat = api.useQuery('get', '/api/v1/workflow/{workflow_id}/text-chat/sessions/{run_id}', {
    params: { path: { workflow_id: agent.id, run_id: runId } },
  });
  return (
    <>
      <Loaded query={chat}>
        {(loaded) => <TextChat agent={agent} chat={loaded} onChanged={() => chat.refetch()} />}
      </Loaded>
      <div className="buttons">
        <button type="button" onClick={onLeave}>
          New chat
        </button>
      </div>
    </>
  );
}
