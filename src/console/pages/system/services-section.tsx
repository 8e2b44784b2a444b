// Speech and model services: what calls found at each of them, and the faults that last.

import type { Schema } from '../../api/client.ts';
import { formatNumber, formatTime, words } from '../../format.ts';
import { Badge, type Tone } from '../../parts/notice.tsx';
import { type Column, Section, Table } from '../../parts/page.tsx';

type System = Schema<'SystemStatusResponse'>;
type Service = System['services'][number];
type ServiceFault = System['service_faults'][number];

export function ServicesSection({
  system: { services, service_faults: faults },
}: {
  system: System;
}) {
  return (
    <Section title="Speech and model services">
      <Table
        caption="Services"
        columns={SERVICE_COLUMNS}
        rows={services}
        keyOf={({ job, service }) => `${job} ${service}`}
        empty="No service is set, and none was used."
      />
      {faults.length > 0 && (
        <>
          <h3 className="gap">Faults that persist until something is changed</h3>
          <Table
            caption="Faults of services"
            columns={FAULT_COLUMNS}
            rows={faults}
            keyOf={({ job, service, kind }) => `${job} ${service} ${kind}`}
            empty=""
          />
        </>
      )}
    </Section>
  );
}

const JOBS: Readonly<Record<Service['job'], string>> = {
  llm: 'language model',
  tts: 'speech synthesis',
  stt: 'speech recognition',
};
const STATES: Readonly<Record<Service['state'], { tone: Tone; text: string }>> = {
  healthy: { tone: 'good', text: 'healthy' },
  failing: { tone: 'warn', text: 'last request failed' },
  open: { tone: 'bad', text: 'skipped: circuit open' },
  untried: { tone: 'plain', text: 'not used yet' },
};

const SERVICE_COLUMNS: readonly Column<Service>[] = [
  {
    name: 'Service',
    cell: ({ job, service, is_configured: isConfigured }) => (
      <>
        {service}, {JOBS[job]}
        {!isConfigured && <span className="soft below">not in your configuration</span>}
      </>
    ),
  },
  { name: 'State', cell: (service) => <ServiceState service={service} /> },
  {
    name: 'Last fault',
    cell: ({ last_fault: fault }) =>
      fault === null ? 'none' : <Moment at={fault.at} below={words(fault.kind)} />,
  },
  { name: 'Last answer', cell: ({ last_success_at: at }) => at !== null && <Moment at={at} /> },
  {
    name: 'Requests in 10 min',
    isNumber: true,
    cell: ({ requests, failed_requests: failed }) =>
      failed === 0
        ? formatNumber(requests)
        : `${formatNumber(requests)}, ${formatNumber(failed)} failed`,
  },
];

function ServiceState({ service }: { service: Service }) {
  const { tone, text } = STATES[service.state];
  const { open_since: since, open_circuits: count } = service;
  return (
    <>
      <Badge tone={tone}>{text}</Badge>
      {since !== null && (
        <span className="soft below">
          {count === 1 ? 'one account' : `${formatNumber(count)} accounts or settings`} since{' '}
          {formatTime(since)}: calls use the next service
        </span>
      )}
    </>
  );
}

function Moment({ at, below }: { at: string; below?: string }) {
  return (
    <>
      <span className="nowrap">{formatTime(at)}</span>
      {below !== undefined && <span className="soft below">{below}</span>}
    </>
  );
}

const FAULT_COLUMNS: readonly Column<ServiceFault>[] = [
  { name: 'Service', cell: ({ job, service }) => `${service}, ${JOBS[job]}` },
  {
    name: 'Fault',
    cell: ({ kind, detail }) => (
      <>
        <Badge tone="bad">{words(kind)}</Badge>
        <span className="soft below">{detail}</span>
      </>
    ),
  },
  { name: 'First', cell: ({ first_at: at }) => <Moment at={at} /> },
  { name: 'Last', cell: ({ last_at: at }) => <Moment at={at} /> },
];
