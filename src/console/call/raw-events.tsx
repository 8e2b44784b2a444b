// The log of the run, event by event, as the gateway has stored it: by type, and as JSON to copy.

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Code, CopyButton } from '../parts/copy.tsx';
import { SelectField } from '../parts/field.tsx';
import { Loaded, Notice } from '../parts/notice.tsx';
import { Section } from '../parts/page.tsx';
import { formatMoment } from './call-export.ts';
import { EVENTS_MAX, type LoggedEvent, type RunAddress, readEvents } from './event-log.ts';

const LIVE_MS = 5_000;
/** Rows that are shown at a time. */
const ROWS = 100;

export function RawEvents({ run, isLive }: { run: RunAddress; isLive: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const query = useQuery({
    queryKey: ['run-events', run.run_id],
    queryFn: () => readEvents(run),
    enabled: isOpen,
    refetchInterval: isLive ? LIVE_MS : false,
  });
  return (
    <Section title="Raw events">
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Show the log of this call</summary>
        {isOpen && (
          <Loaded query={query}>
            {({ events, isCut }) => <EventList events={events} isCut={isCut} />}
          </Loaded>
        )}
      </details>
    </Section>
  );
}

function EventList({ events, isCut }: { events: readonly LoggedEvent[]; isCut: boolean }) {
  const [type, setType] = useState('');
  const [shownMax, setShownMax] = useState(ROWS);
  const types = [...new Set(events.map((event) => event.type))].sort();
  const chosen = type === '' ? events : events.filter((event) => event.type === type);
  const shown = chosen.slice(0, shownMax);
  return (
    <>
      <div className="filters">
        <SelectField
          label="Type of event"
          value={type}
          onChange={({ target }) => {
            setType(target.value);
            setShownMax(ROWS);
          }}
          options={[
            { value: '', label: `All (${events.length})` },
            ...types.map((each) => ({ value: each, label: each })),
          ]}
        />
        <CopyButton text={JSON.stringify(chosen, null, 1)} label="Copy JSON" />
      </div>
      {isCut && <Notice tone="warn">Only the first {EVENTS_MAX} events are shown.</Notice>}
      <ol className="raw-events" aria-label="Events">
        {shown.map((event) => (
          <li key={event.seq}>
            <RawEvent event={event} />
          </li>
        ))}
      </ol>
      {shown.length < chosen.length && (
        <button type="button" onClick={() => setShownMax(shownMax + ROWS * 5)}>
          Show more: {shown.length} of {chosen.length}
        </button>
      )}
    </>
  );
}

function RawEvent({ event }: { event: LoggedEvent }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <code>{event.seq}</code> <time>{formatMoment(event.at_ms)}</time> <b>{event.type}</b>{' '}
        <span className="raw-data">{JSON.stringify(event.data).slice(0, 160)}</span>
      </summary>
      {isOpen && <Code text={JSON.stringify(event, null, 2)} name={`Event ${event.seq}`} />}
    </details>
  );
}
