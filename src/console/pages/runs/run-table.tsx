// The table of runs: when, whose, with whom, how long, how it ended, and why somebody should look at it.

import { Link } from 'wouter';
import type { paths } from '../../api/schema.d.ts';
import { counted, formatDuration, formatTime, words } from '../../format.ts';
import { callHref } from '../../links.ts';
import { Badge, type Tone } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/page.tsx';

export type FoundRun =
  paths['/api/v1/runs']['get']['responses'][200]['content']['application/json']['runs'][number];
type Reason = FoundRun['attention'][number];

const REASONS: Readonly<Record<Reason, { tone: Tone; text: string; title: string }>> = {
  technical_end: {
    tone: 'bad',
    text: 'technical end',
    title: 'A fault of the gateway, a service or the provider ended the call',
  },
  unanswered_caller: {
    tone: 'bad',
    text: 'caller unanswered',
    title: 'At its end the caller had waited 4 s or longer for the agent',
  },
  media_interrupted: {
    tone: 'warn',
    text: 'media interrupted',
    title: 'Its media connection broke',
  },
  slow_answers: {
    tone: 'warn',
    text: 'slow answers',
    title: 'The median wait for answers was 2 s or more, or one was 5 s or more',
  },
  faults: { tone: 'warn', text: 'faults', title: 'It had faults and went on' },
};

const COLUMNS: readonly Column<FoundRun>[] = [
  {
    name: 'Created',
    cell: ({ id, workflow_id, created_at }) => (
      <Link href={callHref(workflow_id, id)} className="nowrap">
        {formatTime(created_at)}
      </Link>
    ),
  },
  {
    name: 'Agent',
    cell: ({ workflow_id, workflow_name }) => (
      <Link href={`/agents/${workflow_id}`}>{workflow_name}</Link>
    ),
  },
  { name: 'With', cell: (run) => <Parties run={run} /> },
  {
    name: 'Length',
    isNumber: true,
    cell: ({ duration_seconds: s }) => (s === null || s === 0 ? '–' : formatDuration(s * 1_000)),
  },
  { name: 'Ended', cell: (run) => <Ending run={run} /> },
  {
    name: 'Answer p95',
    isNumber: true,
    cell: ({ answers }) => (answers === null ? '–' : formatDuration(answers.p95_ms)),
  },
  { name: 'Attention', cell: (run) => <Attention run={run} /> },
];

export function RunTable({ runs }: { runs: readonly FoundRun[] }) {
  return (
    <Table
      className="run-table"
      caption="Runs"
      columns={COLUMNS}
      rows={runs}
      keyOf={({ id }) => id}
      empty=""
    />
  );
}

function Parties({ run }: { run: FoundRun }) {
  const { direction, provider, caller_number: caller, called_number: called } = run;
  const other = direction === 'inbound' ? caller : called;
  const way = direction === 'inbound' ? 'from' : 'to';
  return (
    <>
      <span className="nowrap">{other === null ? direction : `${way} ${other}`}</span>
      <span className="soft below">{provider === 'textchat' ? 'text chat' : provider}</span>
    </>
  );
}

function Ending({ run }: { run: FoundRun }) {
  const { state, disposition, end_reason: reason, ended_by: by } = run;
  if (state === 'running') return <Badge tone="info">in progress</Badge>;
  if (state === 'initialized') return <Badge>not answered yet</Badge>;
  const why = reason !== null && reason !== disposition ? words(reason) : '';
  const detail = [why, by === null ? '' : `by ${by}`].filter(Boolean).join(', ');
  return (
    <>
      {disposition === null ? 'completed' : words(disposition)}
      {detail !== '' && <span className="soft below">{detail}</span>}
    </>
  );
}

function Attention({ run: { attention, faults } }: { run: FoundRun }) {
  return (
    <span className="badges">
      {attention.map((reason) => {
        const { tone, text, title } = REASONS[reason];
        const shown = reason === 'faults' ? counted(faults, 'fault') : text;
        return (
          <span key={reason} title={title}>
            <Badge tone={tone}>{shown}</Badge>
          </span>
        );
      })}
    </span>
  );
}
