// The state of the system: what is wrong and what to do, the gateways with their processes, and what they use.

import { Link } from 'wouter';
import { api, type Schema } from '../../api/client.ts';
import { formatDuration, formatNumber, formatTime } from '../../format.ts';
import { Badge, Loaded, Notice, type Tone } from '../../parts/notice.tsx';
import { type Column, Facts, Page, Section, Table, Tabs } from '../../parts/page.tsx';
import { AlertsSection } from './alerts-section.tsx';
import { ServicesSection } from './services-section.tsx';
import { SYSTEM_TABS } from './system-tabs.ts';

const REFRESH_MS = 3_000;

type System = Schema<'SystemStatusResponse'>;
type Gateway = System['gateways'][number];
type Condition = NonNullable<Gateway['condition']>;
type PbxLease = System['pbx_leases'][number];

export function SystemPage() {
  const system = api.useQuery('get', '/api/v1/system', {}, { refetchInterval: REFRESH_MS });
  return (
    <Page title="System">
      <Tabs tabs={SYSTEM_TABS} at="/system" />
      <Loaded query={system}>
        {(data) => (
          <>
            <Problems system={data} />
            <Overview system={data} />
            {data.gateways.map((gateway) => (
              <GatewaySection
                key={gateway.name}
                gateway={gateway}
                hasProblems={data.problems.some((each) => each.gateway === gateway.name)}
              />
            ))}
            <ServicesSection system={data} />
            <AlertsSection alerts={data.alerts} name={data.answered_by} />
            <Section title="PBXs">
              <Table
                caption="Connections to PBXs"
                columns={PBX_COLUMNS}
                rows={data.pbx_leases}
                keyOf={({ configuration_id: id }) => id}
                empty="No PBX is connected. Add one on the page Telephony."
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Problems({ system }: { system: System }) {
  const { problems, not_ready: notReady, answered_by: name, service_faults: faults } = system;
  const firing = system.alerts.filter(({ state }) => state === 'firing');
  const isWell = [problems, notReady, faults, firing].every(({ length }) => length === 0);
  if (isWell)
    return <Notice tone="good">Nothing is wrong, by the bounds of the alert rules.</Notice>;
  return (
    <>
      {notReady.length > 0 && (
        <Notice tone="bad">
          {name} should get no new calls: {notReady.join(', ')}
        </Notice>
      )}
      {faults.length > 0 && (
        <Notice tone="bad">
          Calls meet faults of {[...new Set(faults.map(({ service }) => service))].join(', ')}: see
          speech and model services below.
        </Notice>
      )}
      {firing.map(({ name: rule, text, detail, remedy, runbook }) => (
        <Notice key={rule} tone="bad">
          <strong>
            {text}
            {detail !== null && ` (${detail})`}
          </strong>
          {'\n'}What to do: {remedy} <span className="nowrap">More: {runbook}</span>
        </Notice>
      ))}
      {problems.map(({ gateway, text, remedy }) => (
        <Notice key={`${gateway} ${text}`} tone="bad">
          {/* It begins with the name of its gateway. */}
          <strong>{gateway === null ? capitalized(text) : text}</strong>
          {'\n'}What to do: {remedy}
        </Notice>
      ))}
    </>
  );
}

function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

function Overview({ system }: { system: System }) {
  const { gateways, calls, calls_without_owner: orphans, database, policy, version } = system;
  return (
    <Section title="All gateways">
      <Facts
        facts={[
          ['Gateways', formatNumber(gateways.length)],
          ['Open calls', formatNumber(calls)],
          ['Calls whose process is gone', orphans === 0 ? 'none' : formatNumber(orphans)],
          ['PostgreSQL', <StateBadge key="database" state={database} />],
          ['Conversations are controlled by', policy === 'model' ? 'a language model' : 'a script'],
          ['Answered by', `${system.answered_by}, version ${version}`],
          [
            'Event loop delay, p95 and longest',
            `${formatDuration(system.loop_lag_p95_ms)}, ${formatDuration(system.loop_lag_max_ms)}`,
          ],
          ["The database's time", formatTime(system.now)],
        ]}
      />
    </Section>
  );
}

const PROCESS_COLUMNS: readonly Column<Gateway['processes'][number]>[] = [
  { name: 'Process', cell: ({ name }) => (/^\d+$/.test(name) ? `call worker ${name}` : name) },
  { name: 'Open calls', isNumber: true, cell: ({ calls }) => formatNumber(calls) },
  {
    name: 'Last heartbeat',
    isNumber: true,
    cell: ({ heartbeat_seconds: s }) => `${formatDuration(s * 1_000)} ago`,
  },
  { name: 'Since', cell: ({ since }) => <span className="nowrap">{formatTime(since)}</span> },
];

function GatewaySection({ gateway, hasProblems }: { gateway: Gateway; hasProblems: boolean }) {
  const { name, url, since, calls, condition, processes } = gateway;
  return (
    <Section
      title={`Gateway ${name}`}
      actions={
        <Badge tone={hasProblems ? 'bad' : 'good'}>{hasProblems ? 'has problems' : 'alive'}</Badge>
      }
    >
      <Facts
        facts={[
          ['Open calls', formatNumber(calls)],
          ['Reached at', url],
          ['Since', formatTime(since)],
          ...(condition === null ? [] : conditionFacts(condition)),
        ]}
      />
      {condition === null && <p className="soft gap">It has not reported its state yet.</p>}
      <Table
        caption={`Processes of ${name}`}
        columns={PROCESS_COLUMNS}
        rows={processes}
        keyOf={({ name: process }) => process}
        empty="It has no processes."
      />
    </Section>
  );
}

function conditionFacts(condition: Condition) {
  const { clock_skew_seconds: skew, spool_bytes: spool, spool_oldest_seconds: oldest } = condition;
  return [
    ['Version', condition.version],
    ['Ready', condition.not_ready.length === 0 ? 'yes' : `no: ${condition.not_ready.join(', ')}`],
    ['Call workers', `${condition.workers} of ${condition.workers_wanted}`],
    ['Redis', <StateBadge key="redis" state={condition.redis} />],
    ['S3', <StateBadge key="s3" state={condition.s3} />],
    ['Clock against the database', skew === null ? null : formatDuration(Math.abs(skew) * 1_000)],
    [
      'Files that wait for S3',
      spool === null || spool === 0
        ? null
        : `${formatNumber(Math.ceil(spool / 1_024))} KiB, the oldest for ${formatDuration((oldest ?? 0) * 1_000)}`,
    ],
  ] as const;
}

const PEER_STATES: Readonly<Record<Condition['redis'], { tone: Tone; text: string }>> = {
  ok: { tone: 'good', text: 'answers' },
  away: { tone: 'bad', text: 'away' },
  unknown: { tone: 'plain', text: 'not asked lately' },
  unused: { tone: 'plain', text: 'not used' },
};

function StateBadge({ state }: { state: Condition['redis'] }) {
  const { tone, text } = PEER_STATES[state];
  return <Badge tone={tone}>{text}</Badge>;
}

const PBX_COLUMNS: readonly Column<PbxLease>[] = [
  {
    name: 'PBX',
    cell: ({ configuration_id: id, name }) => <Link href={`/telephony/${id}`}>{name}</Link>,
  },
  { name: 'Connected by', cell: ({ node }) => node ?? 'no process' },
  {
    name: 'State',
    cell: ({ inactive_reason: reason, node }) => {
      if (reason !== null)
        return (
          <>
            <Badge tone="bad">not connected</Badge>
            <span className="soft below">{reason}</span>
          </>
        );
      return node === null ? (
        <Badge tone="warn">not connected</Badge>
      ) : (
        <Badge tone="good">connected</Badge>
      );
    },
  },
];
