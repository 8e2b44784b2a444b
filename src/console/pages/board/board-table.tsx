// The calls of one page of the board, with what can be done to each.

import { memo, useState, useSyncExternalStore } from 'react';
import { Link } from 'wouter';
import type { BoardCall } from '../../../model/board-call.ts';
import { DIGITS, DIGITS_HINT, hangUpCall, sendDigits } from '../../call/call-control.ts';
import { formatDuration } from '../../format.ts';
import { callHref } from '../../links.ts';
import { Confirm, FormDialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Badge } from '../../parts/notice.tsx';

/** What is being done to a call. */
interface Action {
  kind: 'hang up' | 'keys';
  call: BoardCall;
}

export function BoardTable({ calls, clockMs }: { calls: readonly BoardCall[]; clockMs: number }) {
  const [action, setAction] = useState<Action>();
  const close = () => setAction(undefined);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by the keyboard */}
      <section className="table-scroll" aria-label="Active calls" tabIndex={0}>
        <table className="board">
          <caption className="hidden">Active calls</caption>
          <thead>
            <tr>
              <th scope="col">Call</th>
              <th scope="col">Node and last words</th>
              <th scope="col" data-number="true">
                Duration
              </th>
              <th scope="col">Gateway</th>
              <th scope="col">
                <span className="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {calls.map((call) => (
              <Row key={call.run_id} call={call} clockMs={clockMs} onAction={setAction} />
            ))}
          </tbody>
        </table>
      </section>
      {action?.kind === 'hang up' && <HangUp call={action.call} onClose={close} />}
      {action?.kind === 'keys' && <SendKeys call={action.call} onClose={close} />}
    </>
  );
}

/** Rendered again only if its call has changed. */
const Row = memo(function Row({
  call,
  clockMs,
  onAction,
}: {
  call: BoardCall;
  clockMs: number;
  onAction: (action: Action) => void;
}) {
  const name = nameOf(call);
  return (
    <tr>
      <td>
        <Link href={callHref(call.workflow_id, call.run_id)}>{call.agent || 'Deleted agent'}</Link>
        <p className="board-numbers">
          {call.direction === 'inbound' ? 'In' : 'Out'} · {numbersOf(call)}
        </p>
      </td>
      <td>
        <div className="board-words">
          {call.state === 'ringing' ? (
            <Badge tone="warn">ringing</Badge>
          ) : (
            <Badge tone="info">{call.node ?? 'answered'}</Badge>
          )}
          {call.last_words !== null && (
            <p data-who={call.last_speaker}>
              <b>{call.last_speaker === 'agent' ? 'Agent' : 'Caller'}:</b> {call.last_words}
            </p>
          )}
        </div>
      </td>
      <td data-number="true">
        <Duration since={call.since} clockMs={clockMs} />
      </td>
      <td>{call.gateway}</td>
      <td>
        <div className="board-actions">
          <button
            type="button"
            className="icon-button"
            aria-label={`Send keys to ${name}`}
            title="Send keys"
            disabled={call.state === 'ringing'}
            onClick={() => onAction({ kind: 'keys', call })}
          >
            <Icon name="keys" />
          </button>
          <button
            type="button"
            className="icon-button danger"
            aria-label={`Hang up ${name}`}
            title="Hang up"
            onClick={() => onAction({ kind: 'hang up', call })}
          >
            <Icon name="hangUp" />
          </button>
        </div>
      </td>
    </tr>
  );
});

function numbersOf({ caller_number: from, called_number: to, provider }: BoardCall): string {
  if (from === null && to === null) return provider === 'web' ? 'browser' : provider;
  return `${from ?? 'unknown'} → ${to ?? 'unknown'}`;
}

function nameOf(call: BoardCall): string {
  return `the call of ${call.agent}, run ${call.run_id}`;
}

function Duration({ since, clockMs }: { since: number; clockMs: number }) {
  const now = useSyncExternalStore(subscribeSecond, () => second);
  const seconds = Math.max(0, Math.round((now + clockMs - since) / 1_000));
  return <>{seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1_000)}</>;
}

let second = Date.now();
const tickers = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

/** One timer for all durations of the page. */
function subscribeSecond(listener: () => void): () => void {
  tickers.add(listener);
  if (ticking === undefined) second = Date.now();
  ticking ??= setInterval(() => {
    second = Date.now();
    for (const each of tickers) each();
  }, 1_000);
  return () => {
    tickers.delete(listener);
    if (tickers.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  };
}

function HangUp({ call, onClose }: { call: BoardCall; onClose: () => void }) {
  return (
    <Confirm
      title="Hang up this call?"
      action="Hang up"
      onClose={onClose}
      onConfirm={() => hangUpCall(call)}
    >
      <p>
        {call.agent}, {numbersOf(call)}. The person on the telephone is disconnected.
      </p>
    </Confirm>
  );
}

function SendKeys({ call, onClose }: { call: BoardCall; onClose: () => void }) {
  const [digits, setDigits] = useState('');
  return (
    <FormDialog
      title="Send keys"
      action="Send"
      isDisabled={digits === ''}
      onSubmit={() => sendDigits(call, digits)}
      onClose={onClose}
    >
      <p className="board-numbers">
        {call.agent}, {numbersOf(call)}
      </p>
      <TextField
        label="Keys"
        hint={DIGITS_HINT}
        value={digits}
        onChange={({ target }) => setDigits(target.value)}
        pattern={DIGITS}
        required
        autoComplete="off"
      />
    </FormDialog>
  );
}
