// What a call brought, in tables below its timeline: answers, tools, faults, values, use of services, webhooks.

import { api } from '../api/client.ts';
import { formatDuration, formatNumber, formatTime, words } from '../format.ts';
import { Code } from '../parts/copy.tsx';
import { Badge, Loaded } from '../parts/notice.tsx';
import { type Column, Facts, Section, Table } from '../parts/page.tsx';
import { formatMoment } from './call-export.ts';
import {
  type Answer,
  type CallState,
  type Fault,
  PARTS,
  percentile,
  type Tool,
} from './call-state.ts';
import type { Run } from './event-log.ts';
import { PART_NAMES } from './waveform-drawing.ts';

interface SectionProps {
  call: CallState;
  onSeek: (atMs: number) => void;
}

function Moment({ atMs, onSeek }: { atMs: number; onSeek: (atMs: number) => void }) {
  return (
    <button type="button" className="link" onClick={() => onSeek(atMs)}>
      {formatMoment(atMs)}
    </button>
  );
}

const ms = (value: number): string => formatNumber(Math.round(value));

/** The same as the bars below the sound, in figures. */
export function Answers({ call: { answers }, onSeek }: SectionProps) {
  const totals = answers.map(({ totalMs }) => totalMs);
  const [middle, slow] = [percentile(totals, 0.5), percentile(totals, 0.95)];
  const columns: Column<Answer>[] = [
    { name: 'At', cell: ({ fromMs }) => <Moment atMs={fromMs} onSeek={onSeek} /> },
    { name: 'Total, ms', isNumber: true, cell: ({ totalMs }) => <b>{ms(totalMs)}</b> },
    ...PARTS.map((part) => ({
      name: part,
      isNumber: true,
      cell: ({ parts }: Answer) => <span title={PART_NAMES[part]}>{ms(parts[part])}</span>,
    })),
  ];
  return (
    <Section title="Answers">
      {middle !== undefined && slow !== undefined && (
        <p className="hint">
          From the end of the caller's speech to the agent's first sound: p50{' '}
          {formatDuration(middle)}, p95 {formatDuration(slow)}. Tools run within these times and are
          not added to them.
        </p>
      )}
      <Table
        className="figures"
        caption="Waits for answers by part, in milliseconds"
        columns={columns}
        rows={answers}
        keyOf={({ fromMs, turn }) => `${turn}-${fromMs}`}
        empty="No answer was timed: the caller has said nothing that the agent answered."
      />
    </Section>
  );
}

export function Tools({ call: { tools }, onSeek }: SectionProps) {
  if (tools.length === 0) return null;
  const columns: Column<Tool>[] = [
    { name: 'At', cell: ({ atMs }) => <Moment atMs={atMs} onSeek={onSeek} /> },
    { name: 'Tool', cell: ({ name }) => name },
    { name: 'Request', cell: ({ request }) => <Json value={request} /> },
    {
      name: 'Answer',
      cell: ({ result }) => (result === undefined ? 'none yet' : <Json value={result} />),
    },
    { name: 'ms', isNumber: true, cell: ({ tookMs }) => (tookMs === undefined ? '' : ms(tookMs)) },
  ];
  return (
    <Section title="Tools">
      <Table
        caption="Tools that were called"
        columns={columns}
        rows={tools}
        keyOf={({ callId, atMs }) => `${callId}-${atMs}`}
        empty=""
      />
    </Section>
  );
}

function Json({ value }: { value: unknown }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text === undefined || text.length <= 60) return <code>{text}</code>;
  return (
    <details>
      <summary>
        <code>{text.slice(0, 60)} …</code>
      </summary>
      <Code text={indented(text)} name="JSON" />
    </details>
  );
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // Not JSON: shown as it is.
  }
}

export function Faults({ call: { faults }, onSeek }: SectionProps) {
  if (faults.length === 0) return null;
  const columns: Column<Fault>[] = [
    { name: 'At', cell: ({ atMs }) => <Moment atMs={atMs} onSeek={onSeek} /> },
    {
      name: 'Code',
      cell: ({ code, isFatal }) => (
        <>
          <code>{code}</code> {isFatal && <Badge tone="bad">ended the call</Badge>}
        </>
      ),
    },
    {
      name: 'What',
      cell: ({ text, change }) => (change === undefined ? text : `${text} (service: ${change})`),
    },
  ];
  return (
    <Section title="Faults">
      <Table
        caption="Faults of this call"
        columns={columns}
        rows={faults}
        keyOf={({ atMs, code, text }) => `${atMs}-${code}-${text}`}
        empty=""
      />
    </Section>
  );
}

/** Values that the gateway adds to the gathered ones: other parts of the page show them. */
const OWN_VALUES = new Set([
  'extracted_variables',
  'call_id',
  'provider',
  'mapped_call_disposition',
]);

export function Values({ run }: { run: Run }) {
  const gathered = Object.entries(run.gathered_context ?? {}).filter(
    ([name]) => !OWN_VALUES.has(name),
  );
  const given = Object.entries(run.initial_context ?? {});
  return (
    <Section title="Values">
      <h3>Gathered</h3>
      {gathered.length === 0 ? (
        <p className="empty">Nothing yet: values appear when the call has ended.</p>
      ) : (
        <Facts facts={gathered.map(([name, value]) => [words(name), shown(value)])} />
      )}
      {given.length > 0 && (
        <details>
          <summary>Given at the start ({given.length})</summary>
          <Facts facts={given.map(([name, value]) => [name, shown(value)])} />
        </details>
      )}
    </Section>
  );
}

function shown(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value) && value.every((each) => typeof each === 'string'))
    return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export function Usage({ run }: { run: Run }) {
  const { usage_info: usage, cost_info: cost } = run;
  const facts = ['llm', 'tts', 'stt'].flatMap((job) =>
    Object.entries((usage?.[job] ?? {}) as Record<string, unknown>).map(
      ([service, figures]) =>
        [`${job}: ${service.replace('|||', ' ')}`, shown(flat(figures, job))] as const,
    ),
  );
  const dollars = cost?.['total_cost_usd'];
  if (facts.length === 0 && typeof dollars !== 'number') return null;
  return (
    <Section title="Usage">
      <Facts
        facts={[
          ...facts,
          ['Cost, US dollars', typeof dollars === 'number' ? dollars.toFixed(4) : undefined],
        ]}
      />
    </Section>
  );
}

/** What a figure of a service counts that stands alone. */
const UNITS: Readonly<Record<string, string>> = { tts: 'characters', stt: 'seconds' };

/** `{ prompt_tokens: 12 }` as `12 prompt tokens`. */
function flat(figures: unknown, job: string): unknown {
  if (typeof figures === 'number')
    return `${formatNumber(Math.round(figures))} ${UNITS[job] ?? ''}`.trim();
  if (typeof figures !== 'object' || figures === null) return figures;
  return Object.entries(figures).map(([name, value]) => `${String(value)} ${words(name)}`);
}

export function Deliveries({ runId }: { runId: string }) {
  const query = api.useQuery('get', '/api/v1/organizations/webhook-deliveries', {
    params: { query: { run_id: runId, limit: 50 } },
  });
  return (
    <Section title="Webhooks">
      <Loaded query={query}>
        {({ deliveries, total_count: total }) => (
          <>
            <Table
              caption="Webhooks after this call"
              columns={[
                { name: 'Node', cell: ({ node_name }) => node_name },
                {
                  name: 'To',
                  cell: ({ http_method, endpoint_url }) => `${http_method} ${endpoint_url}`,
                },
                { name: 'State', cell: ({ status }) => <Badge>{words(status)}</Badge> },
                { name: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
                {
                  name: 'Status',
                  isNumber: true,
                  cell: ({ response_status }) => response_status ?? '',
                },
                {
                  name: 'Last',
                  cell: ({ last_attempt_at: at }) => (at === null ? '' : formatTime(at)),
                },
                { name: 'Error', cell: ({ error }) => error ?? '' },
              ]}
              rows={deliveries}
              keyOf={({ id }) => id}
              empty="No webhook was sent: the agent has no webhook node that is on."
            />
            {total > deliveries.length && (
              <p className="hint">
                The newest {deliveries.length} of {total}.
              </p>
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}
