// The watched lines of a configuration: what their last test calls found, and what to do. They are added over the API.

import { api, type Schema } from '../../api/client.ts';
import { formatTime } from '../../format.ts';
import { Badge, Loaded } from '../../parts/notice.tsx';
import { Section, Table } from '../../parts/page.tsx';

type Line = Schema<'WatchedLine'>;

const REFRESH_MS = 15_000;

const tones = { untested: 'plain', ok: 'good', doubtful: 'warn', failing: 'bad' } as const;

/** Nothing without a line. */
export function WatchedLines({ id }: { id: string }) {
  const lines = api.useQuery(
    'get',
    '/api/v1/organizations/telephony-configs/{config_id}/lines',
    { params: { path: { config_id: id } } },
    { refetchInterval: REFRESH_MS },
  );
  if (lines.data?.lines.length === 0) return null;
  return (
    <Section title="Watched lines">
      <Loaded query={lines}>{({ lines: all }) => <Lines lines={all} />}</Loaded>
    </Section>
  );
}

function Lines({ lines }: { lines: readonly Line[] }) {
  return (
    <Table
      caption="Watched lines of this configuration"
      columns={[
        { name: 'Name', cell: ({ name }) => name },
        {
          name: 'Tests',
          cell: ({ kind, number }) => (number === null ? kind : `${kind} ${number}`),
        },
        {
          name: 'State',
          cell: ({ enabled, state }) => (
            <Badge tone={enabled ? tones[state] : 'plain'}>{enabled ? state : 'off'}</Badge>
          ),
        },
        {
          name: 'Last test call',
          cell: ({ last_test: test }) => (test === null ? 'none' : formatTime(test.at)),
        },
        {
          name: 'What to do',
          cell: ({ fault }) => (fault === null ? '' : `${fault.summary}. ${fault.remedy}`),
        },
      ]}
      rows={lines}
      keyOf={(line) => line.id}
      empty=""
    />
  );
}
