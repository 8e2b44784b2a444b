// The board of active calls: the node and the last words of each, live. Without agents the first steps are shown in its
// place.

import { useDeferredValue, useMemo, useState, useSyncExternalStore } from 'react';
import { Link } from 'wouter';
import type { BoardCall } from '../../../model/board-call.ts';
import { api } from '../../api/client.ts';
import { LiveCalls, type LiveState } from '../../api/live.ts';
import { counted, formatNumber } from '../../format.ts';
import { later } from '../../parts/later.tsx';
import { Busy, Loaded, Notice } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { BoardTable } from './board-table.tsx';

const FirstSteps = later(async () => (await import('./first-steps.tsx')).FirstSteps);

/** Calls on a page of the list: a message renders no more than these. */
const PAGE_CALLS = 50;

const live = new LiveCalls();

export function BoardPage() {
  const agents = api.useQuery('get', '/api/v1/workflow/count');
  // The first steps stay until they are left, although they make an agent.
  const [isFirst, setFirst] = useState<boolean>();
  const hasNone = agents.data?.total === 0;
  if (isFirst ?? hasNone) {
    return (
      <Page title="First steps">
        <FirstSteps onBegun={() => setFirst(true)} onDone={() => setFirst(false)} />
      </Page>
    );
  }
  return (
    <Page title="Board">
      <Loaded query={agents}>{() => <Board />}</Loaded>
    </Page>
  );
}

function Board() {
  const state = useSyncExternalStore(live.subscribe, live.read);
  const [filter, setFilter] = useState('');
  const [page, setPage] = useState(1);
  const wanted = useDeferredValue(filter);
  const found = useMemo(() => filtered(state.calls, wanted), [state.calls, wanted]);
  const pages = Math.max(1, Math.ceil(found.length / PAGE_CALLS));
  const at = Math.min(page, pages);
  if (state.calls === undefined) return <ConnectionNotice state={state} />;
  return (
    <>
      <ConnectionNotice state={state} />
      <search className="filters">
        <div className="field board-filter">
          <label htmlFor="board-filter">Filter</label>
          <input
            id="board-filter"
            type="search"
            placeholder="Agent, number, node or words"
            value={filter}
            onChange={({ target }) => {
              setFilter(target.value);
              setPage(1);
            }}
          />
        </div>
        <p className="board-count" role="status">
          {countText(state, found.length)}
        </p>
      </search>
      {found.length === 0 ? (
        <NoCalls isFiltered={wanted.trim() !== ''} />
      ) : (
        <BoardTable
          calls={found.slice((at - 1) * PAGE_CALLS, at * PAGE_CALLS)}
          clockMs={state.clockMs}
        />
      )}
      {pages > 1 && (
        <nav className="pager" aria-label="Pages of calls">
          <button type="button" disabled={at === 1} onClick={() => setPage(at - 1)}>
            Previous
          </button>
          <span>
            Page {at} of {pages}
          </span>
          <button type="button" disabled={at === pages} onClick={() => setPage(at + 1)}>
            Next
          </button>
        </nav>
      )}
    </>
  );
}

function ConnectionNotice({ state: { status, calls } }: { state: LiveState }) {
  if (status === 'broken') {
    return <Notice tone="warn">The connection to the gateway is broken. Reconnecting.</Notice>;
  }
  if (status === 'unavailable') {
    return (
      <Notice tone="warn">The gateway cannot read its calls at the moment. Trying again.</Notice>
    );
  }
  return calls === undefined ? <Busy /> : null;
}

function NoCalls({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <p className="empty">No call matches the filter.</p>;
  return (
    <p className="empty">
      No active calls. Talk to one of your <Link href="/agents">agents</Link>, or see the{' '}
      <Link href="/runs">runs</Link> of past calls.
    </p>
  );
}

function countText({ calls, total }: LiveState, found: number): string {
  const shown = calls?.size ?? 0;
  const all = counted(total, 'call');
  const cut = total > shown ? `, the newest ${formatNumber(shown)} are here` : '';
  return found === shown ? `${all}${cut}` : `${formatNumber(found)} of ${all}${cut}`;
}

/** Newest first; the order stays while a call goes on. */
function filtered(calls: LiveState['calls'], filter: string): BoardCall[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const all = [...(calls?.values() ?? [])];
  const found = words.length === 0 ? all : all.filter((call) => hasWords(call, words));
  return found.sort((one, other) => Number(other.run_id) - Number(one.run_id));
}

function hasWords(call: BoardCall, words: readonly string[]): boolean {
  const { agent, caller_number, called_number, node, last_words, gateway, provider } = call;
  const text = [agent, caller_number, called_number, node, last_words, gateway, provider]
    .join(' ')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}
