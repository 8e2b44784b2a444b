// The list of campaigns, newest first, by numbered pages.

import { keepPreviousData } from '@tanstack/react-query';
import { Link, useSearch } from 'wouter';
import { api } from '../../api/client.ts';
import { formatNumber, formatTime } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Badge, Loaded } from '../../parts/notice.tsx';
import { type Column, Page, Table } from '../../parts/page.tsx';
import { type Campaign, STATE_TONES } from './campaign-words.ts';

const PAGE_CAMPAIGNS = 50;
const REFRESH_MS = 5_000;

const COLUMNS: readonly Column<Campaign>[] = [
  { name: 'Name', cell: ({ id, name }) => <Link href={`/campaigns/${id}`}>{name}</Link> },
  { name: 'State', cell: ({ state }) => <Badge tone={STATE_TONES[state]}>{state}</Badge> },
  {
    name: 'Agent',
    cell: ({ workflow_id, workflow_name }) => (
      <Link href={`/agents/${workflow_id}`}>{workflow_name}</Link>
    ),
  },
  {
    name: 'Contacts called',
    isNumber: true,
    cell: ({ processed_rows: called, total_rows: all }) =>
      all === null ? '–' : `${formatNumber(called)} of ${formatNumber(all)}`,
  },
  {
    name: 'Calls in progress',
    isNumber: true,
    cell: ({ in_flight_count }) => formatNumber(in_flight_count),
  },
  { name: 'Not reached', isNumber: true, cell: ({ failed_rows }) => formatNumber(failed_rows) },
  {
    name: 'Created',
    cell: ({ created_at }) => <span className="nowrap">{formatTime(created_at)}</span>,
  },
];

export function CampaignsPage() {
  const page = Math.max(1, Math.floor(Number(new URLSearchParams(useSearch()).get('page'))) || 1);
  const campaigns = api.useQuery(
    'get',
    '/api/v1/campaign',
    { params: { query: { page, limit: PAGE_CAMPAIGNS } } },
    { refetchInterval: REFRESH_MS, placeholderData: keepPreviousData },
  );
  return (
    <Page
      title="Campaigns"
      actions={
        <Link href="/campaigns/new" className="button primary">
          <Icon name="plus" size={16} />
          New campaign
        </Link>
      }
    >
      <Loaded query={campaigns}>
        {({ campaigns: listed, total_count: total, total_pages: pages }) => (
          <>
            <Table
              caption="Campaigns"
              columns={COLUMNS}
              rows={listed}
              keyOf={({ id }) => id}
              empty="No campaigns yet. A new one needs a CSV file of numbers and an agent that is published."
            />
            {pages > 1 && (
              <nav className="pager" aria-label="Pages of campaigns">
                {page > 1 && <Link href={`/campaigns?page=${page - 1}`}>Newer</Link>}
                {page < pages && <Link href={`/campaigns?page=${page + 1}`}>Older</Link>}
                <span className="soft">
                  Page {page} of {pages}, {formatNumber(total)} campaigns
                </span>
              </nav>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}
