// The first steps on an installation without agents: choose a ready agent, and talk to it. The speech services are the
// gateway's own; no account is needed.

import { useState } from 'react';
import { Link } from 'wouter';
import { api, client, queries } from '../../api/client.ts';
import { useAction } from '../../parts/action.tsx';
import { later } from '../../parts/later.tsx';
import { Busy, Loaded } from '../../parts/notice.tsx';
import { Section } from '../../parts/page.tsx';

/** Loaded when an agent was chosen, so that the first page stays small. */
const TalkPanel = later(async () => (await import('../../talk/talk-panel.tsx')).TalkPanel);

interface Template {
  id: string;
  template_name: string;
  template_description: string;
}

export function FirstSteps({ onBegun, onDone }: { onBegun: () => void; onDone: () => void }) {
  const templates = api.useQuery('get', '/api/v1/workflow/templates', {
    params: { query: { summary: true } },
  });
  const { run, isBusy, notice } = useAction();
  const [agent, setAgent] = useState<{ id: string; name: string }>();
  if (agent !== undefined) return <Ready agent={agent} onDone={onDone} />;
  const begin = async ({ id, template_name: name }: Template): Promise<void> => {
    onBegun();
    setAgent({ id: await readyAgent(id, name), name });
    await queries.invalidateQueries();
  };
  return (
    <>
      <p>
        There are no agents yet. Choose one to talk to in this browser: it runs on this gateway
        alone, and needs no account anywhere.
      </p>
      {notice}
      <Loaded query={templates}>
        {(all) => (
          <ul className="templates">
            {all.map((template) => (
              <li key={template.id}>
                <h2>{template.template_name}</h2>
                <p>{template.template_description}</p>
                <button
                  type="button"
                  className="primary"
                  disabled={isBusy}
                  aria-label={`Use this agent: ${template.template_name}`}
                  onClick={() => void run(() => begin(template))}
                >
                  Use this agent
                </button>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      {isBusy && <Busy label="Creating the agent" />}
      <p>
        Or <Link href="/agents">make an agent</Link> of your own, and connect a telephone line under{' '}
        <Link href="/telephony">Telephony</Link>.
      </p>
    </>
  );
}

/** Makes an agent from the template, published so that calls reach it. Returns its id. */
async function readyAgent(templateId: string, name: string): Promise<string> {
  const { data } = await client.POST('/api/v1/workflow/templates/duplicate', {
    body: { template_id: templateId, workflow_name: name },
  });
  if (data === undefined) throw new Error('The gateway made no agent.');
  if (data.version_status === 'draft') {
    await client.POST('/api/v1/workflow/{workflow_id}/publish', {
      params: { path: { workflow_id: data.id } },
    });
  }
  return data.id;
}

function Ready({ agent, onDone }: { agent: { id: string; name: string }; onDone: () => void }) {
  return (
    <>
      <Section
        title={`${agent.name} is ready`}
        actions={
          <button type="button" onClick={onDone}>
            Go to the board
          </button>
        }
      >
        <p>Press Talk, allow the microphone, and speak when the agent has greeted you.</p>
        <TalkPanel workflowId={agent.id} />
      </Section>
      <p>
        Next: <Link href={`/agents/${agent.id}`}>see how it is made</Link>, or{' '}
        <Link href="/telephony">connect a telephone line</Link>.
      </p>
    </>
  );
}
