// Every run of the organization, newest first, with its filters in the address. Pages go by the positions that the API
// gives, so that each costs the same however many runs there are.

import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import { api } from '../../api/client.ts';
import { counted } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Busy, Loaded, Notice } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { ExportDialog, SaveDialog, SavedMenu } from './filter-dialogs.tsx';
import { FilterForm } from './filter-form.tsx';
import { filtersIn, hrefOf, queryOf, type RunFilters } from './run-filters.ts';
import { RunTable } from './run-table.tsx';
import { useSavedFilters } from './saved-filters.ts';

const PAGE_RUNS = 50;
/** The first page is read again while it is shown. */
const REFRESH_MS = 10_000;
/** Positions that "Newer" goes back to. */
const POSITIONS_MAX = 500;

/** Kept by the browser with the address. */
interface PageState {
  /** Positions of the pages before this one; the first page has an empty one. */
  before: string[];
}

export function RunsPage() {
  const search = new URLSearchParams(useSearch());
  const filters = filtersIn(search);
  const after = search.get('after') ?? '';
  const [, navigate] = useLocation();
  const [open, setOpen] = useState<'save' | 'export'>();
  const saved = useSavedFilters();
  const show = (next: RunFilters) => {
    navigate(hrefOf(next));
    // The form is made anew with the filters, and would lose the focus of the keyboard.
    document.getElementById('content')?.focus();
  };
  const page = useRuns(filters, after);
  return (
    <Page
      title="Runs"
      actions={
        <>
          <SavedMenu
            saved={saved}
            onChoose={({ query }) => show(filtersIn(new URLSearchParams(query)))}
            onSave={() => setOpen('save')}
          />
          <button type="button" onClick={() => setOpen('export')}>
            <Icon name="download" size={16} />
            CSV
          </button>
        </>
      }
    >
      <FilterForm
        key={hrefOf(filters)}
        filters={filters}
        hasRuns={!page.isPending}
        onFilter={show}
        onClear={() => show({})}
      />
      <RunList page={page} filters={filters} after={after} />
      {open === 'save' && (
        <SaveDialog filters={filters} saved={saved} onClose={() => setOpen(undefined)} />
      )}
      {open === 'export' && <ExportDialog filters={filters} onClose={() => setOpen(undefined)} />}
    </Page>
  );
}

function useRuns(filters: RunFilters, after: string) {
  const isFirst = after === '';
  const query = { ...queryOf(filters), limit: PAGE_RUNS, ...(isFirst ? {} : { after }) };
  return api.useQuery(
    'get',
    '/api/v1/runs',
    { params: { query } },
    { placeholderData: keepPreviousData, ...(isFirst && { refetchInterval: REFRESH_MS }) },
  );
}

interface ListProps {
  page: ReturnType<typeof useRuns>;
  filters: RunFilters;
  after: string;
}

function RunList({ page, filters, after }: ListProps) {
  return (
    <div aria-busy={page.isPlaceholderData}>
      <Loaded query={page}>
        {({ runs, next }) => (
          <>
            {runs.length > 0 ? (
              <RunTable runs={runs} />
            ) : (
              <NoRuns
                isFirst={after === ''}
                isFiltered={Object.keys(filters).length > 0}
                next={next}
              />
            )}
            {(runs.length > 0 || next !== null || after !== '') && (
              <Pager filters={filters} after={after} next={next} count={runs.length} />
            )}
          </>
        )}
      </Loaded>
      {page.isPlaceholderData && <Busy />}
    </div>
  );
}

function NoRuns(props: { isFirst: boolean; isFiltered: boolean; next: string | null }) {
  const { isFirst, isFiltered, next } = props;
  if (next !== null)
    return (
      <Notice tone="info">
        None of the runs that were searched matches the filters. Older ones may: continue with
        “Older”.
      </Notice>
    );
  if (!isFirst) return <p className="empty">There are no older runs.</p>;
  if (isFiltered)
    return <p className="empty">No run matches these filters. Clear some, or widen the dates.</p>;
  return (
    <p className="empty">
      No runs yet. Call a number of an agent, or start a test call on the agent's page.
    </p>
  );
}

function Pager(props: { filters: RunFilters; after: string; next: string | null; count: number }) {
  const { filters, after, next, count } = props;
  const [, navigate] = useLocation();
  const { before = [] } = useHistoryState<Partial<PageState> | null>() ?? {};
  const go = (position: string, positions: string[]) => {
    const state: PageState = { before: positions.slice(-POSITIONS_MAX) };
    navigate(hrefOf(filters, position === '' ? undefined : position), { state });
    document.getElementById('content')?.focus();
  };
  const last = before.at(-1);
  return (
    <nav className="pager" aria-label="Pages of runs">
      <button type="button" disabled={after === ''} onClick={() => go('', [])}>
        Newest
      </button>
      <button
        type="button"
        disabled={last === undefined}
        onClick={() => last !== undefined && go(last, before.slice(0, -1))}
      >
        Newer
      </button>
      <button
        type="button"
        disabled={next === null}
        onClick={() => next !== null && go(next, [...before, after])}
      >
        Older
      </button>
      <span className="soft" role="status">
        {counted(count, 'run')}
        {next === null ? ', the oldest' : ', older ones follow'}
      </span>
    </nav>
  );
}
