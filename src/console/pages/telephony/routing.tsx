// Whether a provider sends the calls of the numbers here; what does not can be pointed here.

import { useState } from 'react';
import { patientClient, type Schema } from '../../api/client.ts';
import { counted } from '../../format.ts';
import { useAction } from '../../parts/action.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Badge, Busy, Notice, type Tone } from '../../parts/notice.tsx';
import { Section, Table } from '../../parts/page.tsx';

type Change = Schema<'TelephonyRoutingChange'>;
type Found = Schema<'TelephonyRouting'>;

const TONES: Readonly<Record<Change['state'], Tone>> = {
  planned: 'warn',
  done: 'good',
  blocked: 'bad',
};

export function Routing({ id }: { id: string }) {
  const { run, isBusy, notice } = useAction();
  const [found, setFound] = useState<Found>();
  const [isAsked, setAsked] = useState(false);
  const sync = async (apply: boolean) => {
    const { data } = await patientClient.POST(
      '/api/v1/organizations/telephony-configs/{config_id}/sync',
      { params: { path: { config_id: id } }, body: { apply } },
    );
    setFound(data);
  };
  const isPlanned = found?.changes.some(({ state }) => state === 'planned') === true;
  return (
    <Section
      title="Routing of calls in"
      actions={
        <>
          <button type="button" disabled={isBusy} onClick={() => void run(() => sync(false))}>
            Check
          </button>
          {isPlanned && (
            <button
              type="button"
              className="primary"
              disabled={isBusy}
              onClick={() => setAsked(true)}
            >
              Point them here
            </button>
          )}
        </>
      }
    >
      <p className="hint">
        “Check” asks the provider where it sends the calls of the numbers with an agent. It changes
        nothing.
      </p>
      {isBusy && <Busy label="Checking with the provider" />}
      {notice}
      {found !== undefined && <Changes found={found} />}
      {isAsked && (
        <Confirm
          title="Point these calls here?"
          action="Point them here"
          onConfirm={() => sync(true)}
          onClose={() => setAsked(false)}
        >
          <p>
            The provider then sends them to this gateway. An application is pointed with all its
            numbers, also those of other systems.
          </p>
        </Confirm>
      )}
    </Section>
  );
}

function Changes({ found: { changes, not_examined: more } }: { found: Found }) {
  if (changes.length === 0)
    return <Notice tone="good">All calls of the numbers with an agent come here.</Notice>;
  return (
    <>
      <Table
        caption="What sends its calls elsewhere"
        columns={[
          { name: 'What', cell: ({ kind, subject }) => `${kind} ${subject}` },
          { name: 'From', cell: ({ from }) => from },
          { name: 'To', cell: ({ to }) => to },
          {
            name: 'State',
            cell: ({ state, message }) => (
              <>
                <Badge tone={TONES[state]}>{state}</Badge>
                {message !== null && <p className="hint">{message}</p>}
              </>
            ),
          },
        ]}
        rows={changes}
        keyOf={({ kind, subject }) => `${kind} ${subject}`}
        empty=""
      />
      {more > 0 && (
        <Notice tone="info">{`${counted(more, 'further number')} with an agent not examined.`}</Notice>
      )}
    </>
  );
}
