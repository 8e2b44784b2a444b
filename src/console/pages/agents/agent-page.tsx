// One agent: its graph, versions, tests, and export, each with an address of its own.

import './agents.css';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { api, type Schema } from '../../api/client.ts';
import { counted } from '../../format.ts';
import { useAction } from '../../parts/action.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { Badge, Loaded, Notice } from '../../parts/notice.tsx';
import { Page, Tabs } from '../../parts/page.tsx';
import { setStatus } from './agents-changed.ts';
import { ArchiveAgent } from './archive-agent.tsx';
import { definitionOf } from './content.ts';
import { ExportTab } from './export-tab.tsx';
import { GraphTab } from './graph-tab.tsx';
import { TestTab } from './test-tab.tsx';
import { VersionsTab } from './versions-tab.tsx';

type AgentDetail = Schema<'WorkflowResponse'>;

const BACK = { href: '/agents', name: 'Agents' };

export function AgentPage() {
  const { id = '', '*': rest = '' } = useParams<{ id: string; '*'?: string }>();
  const agent = api.useQuery('get', '/api/v1/workflow/fetch/{workflow_id}', {
    params: { path: { workflow_id: id } },
  });
  const { data } = agent;
  return (
    <Page
      title={data?.name ?? 'Agent'}
      back={BACK}
      actions={data !== undefined && <AgentActions agent={data} />}
    >
      <Loaded query={agent}>
        {(loaded) => (
          <>
            <AgentFacts agent={loaded} />
            <AgentTabs agent={loaded} parts={rest.split('/')} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function AgentFacts({ agent }: { agent: AgentDetail }) {
  const { status, version_number: version, version_status: state, total_runs: runs } = agent;
  return (
    <p className="agent-facts">
      <Badge tone={status === 'active' ? 'good' : 'plain'}>{status}</Badge>
      <span>
        version {version ?? '–'}
        {state === 'draft' && ', a draft that calls do not use'}
      </span>
      <Link href={`/runs?agent=${agent.id}`}>{counted(runs, 'run')}</Link>
    </p>
  );
}

function AgentTabs({ agent, parts }: { agent: AgentDetail; parts: readonly string[] }) {
  const { id } = agent;
  const [tab = '', ...rest] = parts;
  const root = `/agents/${id}`;
  const at = tab === '' ? root : `${root}/${tab}`;
  return (
    <>
      <Tabs
        at={at}
        tabs={[
          { href: root, name: 'Graph' },
          { href: `${root}/versions`, name: 'Versions' },
          { href: `${root}/test`, name: 'Test' },
          { href: `/runs?agent=${id}`, name: 'Runs' },
          { href: `${root}/export`, name: 'Export' },
        ]}
      />
      {tab === '' && <GraphTab definition={definitionOf(agent.workflow_definition)} />}
      {tab === 'versions' && <VersionsTab agentId={id} parts={rest} />}
      {tab === 'test' && <TestTab agent={agent} />}
      {tab === 'export' && <ExportTab agent={agent} />}
      {!['', 'versions', 'test', 'export'].includes(tab) && (
        <Notice tone="bad">This part of the page does not exist.</Notice>
      )}
    </>
  );
}

function AgentActions({ agent: { id, name, status } }: { agent: AgentDetail }) {
  const [isAsked, setAsked] = useState(false);
  const { run, notice } = useAction();
  return (
    <>
      {notice}
      <Menu label="More">
        {status === 'active' ? (
          <MenuItem onSelect={() => setAsked(true)}>Archive</MenuItem>
        ) : (
          <MenuItem onSelect={() => void run(() => setStatus(id, 'active'))}>
            Restore from the archive
          </MenuItem>
        )}
      </Menu>
      {isAsked && <ArchiveAgent agent={{ id, name }} onClose={() => setAsked(false)} />}
    </>
  );
}
