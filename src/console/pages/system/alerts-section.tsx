// The alert rules: which of them fire on this gateway, and which Prometheus alone evaluates.

import type { Schema } from '../../api/client.ts';
import { counted, formatTime } from '../../format.ts';
import { Badge, type Tone } from '../../parts/notice.tsx';
import { type Column, Section, Table } from '../../parts/page.tsx';

export type Alert = Schema<'SystemStatusResponse'>['alerts'][number];

/** Those that need a look stand first. */
const ORDER: readonly Alert['state'][] = ['firing', 'pending', 'quiet', 'elsewhere'];

export function AlertsSection({ alerts, name }: { alerts: readonly Alert[]; name: string }) {
  const sorted = ORDER.flatMap((state) => alerts.filter((alert) => alert.state === state));
  const isLoud = ({ state }: Alert) => state === 'firing' || state === 'pending';
  const loud = sorted.filter(isLoud);
  const others = sorted.filter((alert) => !isLoud(alert));
  return (
    <Section title="Alerts">
      <p className="soft gap">
        The rules of grafana/alerts.yml, evaluated by {name} for itself every 30 s. Prometheus
        evaluates them for all gateways, and notifies people.
      </p>
      <Table
        caption="Alerts that fire"
        columns={COLUMNS}
        rows={loud}
        keyOf={({ name: rule }) => rule}
        empty="No rule is beyond its bound."
      />
      <details>
        <summary>{counted(others.length, 'further rule')}</summary>
        <Table
          caption="Further alert rules"
          columns={COLUMNS}
          rows={others}
          keyOf={({ name: rule }) => rule}
          empty="All rules are beyond their bounds."
        />
      </details>
    </Section>
  );
}

const STATES: Readonly<Record<Alert['state'], { tone: Tone; text: string }>> = {
  firing: { tone: 'bad', text: 'firing' },
  pending: { tone: 'warn', text: 'beyond its bound, not for long enough' },
  quiet: { tone: 'good', text: 'quiet' },
  elsewhere: { tone: 'plain', text: 'evaluated by Prometheus alone' },
};

const COLUMNS: readonly Column<Alert>[] = [
  {
    name: 'Alert',
    cell: ({ name, text }) => (
      <>
        {name}
        <span className="soft below">{text}</span>
      </>
    ),
  },
  {
    name: 'State',
    cell: ({ state, detail }) => (
      <>
        <Badge tone={STATES[state].tone}>{STATES[state].text}</Badge>
        {detail !== null && <span className="soft below">{detail}</span>}
      </>
    ),
  },
  {
    name: 'Since',
    cell: ({ since }) => since !== null && <span className="nowrap">{formatTime(since)}</span>,
  },
  {
    name: 'What to do',
    cell: ({ remedy, runbook }) => (
      <>
        {remedy}
        <span className="soft below">More: {runbook}</span>
      </>
    ),
  },
];
