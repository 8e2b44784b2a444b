// The agent as a file.

import type { Schema } from '../../api/client.ts';
import { Code } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Section } from '../../parts/page.tsx';
import { saveText } from '../../parts/save-file.ts';
import { agentFileText } from './agent-file.ts';

export function ExportTab({ agent }: { agent: Schema<'WorkflowResponse'> }) {
  const { nodes = [], edges = [] } = agent.workflow_definition as Partial<
    Schema<'WorkflowDefinition'>
  >;
  const text = agentFileText({
    name: agent.name,
    definition: { ...agent.workflow_definition, nodes, edges },
    settings: agent.workflow_configurations,
    variables: agent.template_context_variables,
  });
  return (
    <Section
      title={`Version ${agent.version_number ?? ''} as JSON`}
      actions={
        <button
          type="button"
          className="primary"
          onClick={() => saveText(fileNameOf(agent), text, 'application/json')}
        >
          <Icon name="download" />
          Download
        </button>
      }
    >
      <p className="hint">
        Graph, settings and variables. “New agent” takes the file back, also on another gateway;
        keys of speech services are masked, and the ids of tools and recordings are those of this
        gateway.
      </p>
      <Code name="The agent as JSON" text={text} />
    </Section>
  );
}

function fileNameOf({ name, version_number: version }: Schema<'WorkflowResponse'>): string {
  const plain = name.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-|-$/g, '');
  return `${plain || 'agent'}-v${version ?? 0}.json`;
}
