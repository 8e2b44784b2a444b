// One campaign: how far it is, why it waits and when it goes on, its actions, settings, log and results.

import { Link, useParams } from 'wouter';
import { api, client } from '../../api/client.ts';
import { formatNumber, formatTime, formatValue, words } from '../../format.ts';
import { useAction } from '../../parts/action.tsx';
import { Icon } from '../../parts/icon.tsx';
import { later } from '../../parts/later.tsx';
import { Badge, Loaded, Notice, type Tone } from '../../parts/notice.tsx';
import { type Column, Facts, Page, Section, Table } from '../../parts/page.tsx';
import { CampaignActions } from './campaign-actions.tsx';
import { SettingFacts } from './campaign-settings.tsx';
import { type Campaign, isUnderWay, STATE_TONES } from './campaign-words.ts';

const ProgressChart = later(
  async () => (await import('./progress-chart.tsx')).ProgressChart,
  'Drawing the chart',
);

const LIVE_MS = 2_000;
const IDLE_MS = 10_000;

type LogEntry = Campaign['logs'][number];

export function CampaignPage() {
  const { id = '' } = useParams<{ id: string }>();
  const campaign = api.useQuery(
    'get',
    '/api/v1/campaign/{campaign_id}',
    { params: { path: { campaign_id: id } } },
    {
      refetchInterval: ({ state: { data } }) =>
        data !== undefined && isUnderWay(data) ? LIVE_MS : IDLE_MS,
    },
  );
  return (
    <Page
      title={campaign.data?.name ?? 'Campaign'}
      back={{ href: '/campaigns', name: 'Campaigns' }}
      actions={campaign.data && <CampaignActions campaign={campaign.data} />}
    >
      <Loaded query={campaign}>
        {(data) => (
          <>
            <State campaign={data} />
            <Progress campaign={data} />
            <Results campaign={data} />
            <Section title="Settings">
              <SettingFacts campaign={data} />
            </Section>
            <Log entries={data.logs} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function State({
  campaign: { state, waiting_for: wait, contact_count: contacts },
}: {
  campaign: Campaign;
}) {
  if (wait !== null && wait !== undefined)
    return (
      <Notice tone="info">
        It waits {wait.message}.
        {wait.until !== null && ` It continues at ${formatTime(wait.until)}.`}
      </Notice>
    );
  if (state === 'created')
    return <Notice tone="plain">It is not started. Start it to call its contacts.</Notice>;
  if (state === 'paused')
    return (
      <Notice tone="warn">It is paused: see the log for the reason. Resume it to continue.</Notice>
    );
  if (state === 'failed')
    return (
      <Notice tone="bad">
        It failed: see the log. {contacts === 0 && 'No contact was called.'}
      </Notice>
    );
  return null;
}

function Progress({ campaign }: { campaign: Campaign }) {
  const progress = api.useQuery(
    'get',
    '/api/v1/campaign/{campaign_id}/progress',
    { params: { path: { campaign_id: campaign.id } } },
    { refetchInterval: isUnderWay(campaign) ? LIVE_MS : IDLE_MS },
  );
  const { in_flight_count: underWay, executed_count: over, retries_pending: retries } = campaign;
  const { busy, no_answer: noAnswer, voicemail } = campaign.retry_breakdown;
  return (
    <Section
      title="Progress"
      actions={<Badge tone={STATE_TONES[campaign.state]}>{campaign.state}</Badge>}
    >
      <Loaded query={progress}>
        {({ total, processed, completed, failed, pending, progress_percentage: percentage }) => (
          <>
            <label className="progress">
              <span>
                {total === 0
                  ? 'The contact file has not been read yet'
                  : `${formatNumber(processed)} of ${formatNumber(total)} contacts called, ${Math.floor(percentage)} %`}
              </span>
              <progress max={Math.max(1, total)} value={processed} />
            </label>
            <Facts
              facts={[
                ['Contacts reached', formatNumber(completed)],
                ['Contacts not reached', formatNumber(failed)],
                ['Contacts not called yet', formatNumber(pending)],
                ['Calls in progress', formatNumber(underWay)],
                ['Calls ended', formatNumber(over)],
                ['Retries pending', formatNumber(retries)],
                [
                  'Retries, by reason',
                  `busy ${formatNumber(busy)}, no answer ${formatNumber(noAnswer)}, voicemail ${formatNumber(voicemail)}`,
                ],
              ]}
            />
            {isUnderWay(campaign) && (
              <ProgressChart
                at={progress.dataUpdatedAt}
                processed={processed}
                completed={completed}
              />
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Results({
  campaign: { id, redialed_campaign_id: child, parent_campaign_id: parent },
}: {
  campaign: Campaign;
}) {
  const { run, isBusy, notice } = useAction();
  const openSource = () =>
    run(async () => {
      const { data } = await client.GET('/api/v1/campaign/{campaign_id}/source-download-url', {
        params: { path: { campaign_id: id } },
      });
      if (data !== undefined) location.assign(data.download_url);
    });
  return (
    <Section title="Results">
      <div className="actions">
        <Link href={`/runs?campaign=${id}`} className="button">
          <Icon name="runs" size={16} />
          Runs of this campaign
        </Link>
        <a className="button" href={`/api/v1/campaign/${id}/report`} download>
          <Icon name="download" size={16} />
          Results as CSV
        </a>
        <button type="button" disabled={isBusy} onClick={() => void openSource()}>
          <Icon name="download" size={16} />
          Contact file
        </button>
        {parent !== null && <Link href={`/campaigns/${parent}`}>The campaign that it redials</Link>}
        {child !== null && <Link href={`/campaigns/${child}`}>The campaign that redials it</Link>}
      </div>
      {notice}
    </Section>
  );
}

const LEVEL_TONES: Readonly<Record<LogEntry['level'], Tone>> = {
  info: 'plain',
  warning: 'warn',
  error: 'bad',
};
const LOG_COLUMNS: readonly Column<LogEntry>[] = [
  { name: 'Time', cell: ({ ts }) => <span className="nowrap">{formatTime(ts)}</span> },
  { name: 'Level', cell: ({ level }) => <Badge tone={LEVEL_TONES[level]}>{level}</Badge> },
  {
    name: 'What happened',
    cell: ({ message, details }) => (
      <>
        {message}
        {details !== null && <span className="soft below">{detailsText(details)}</span>}
      </>
    ),
  },
];

function Log({ entries }: { entries: readonly LogEntry[] }) {
  return (
    <Section title="Log">
      <Table
        caption="Entries of the log, newest first"
        columns={LOG_COLUMNS}
        rows={entries.toReversed()}
        keyOf={({ ts, event }) => `${ts} ${event}`}
        empty="Nothing yet: starts, pauses and faults will be here."
      />
    </Section>
  );
}

function detailsText(details: object): string {
  return Object.entries(details)
    .map(([name, value]) => `${words(name)}: ${formatValue(value)}`)
    .join(', ');
}
