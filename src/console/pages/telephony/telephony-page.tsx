// The list of telephony configurations with their states, and the warnings about them.

import { useState } from 'react';
import { Link } from 'wouter';
import { api, type Schema } from '../../api/client.ts';
import { formatNumber, words } from '../../format.ts';
import { Loaded, Notice } from '../../parts/notice.tsx';
import { type Column, Page, Table } from '../../parts/page.tsx';
import { ConfigurationForm } from './configuration-form.tsx';
import { ConfigurationMenu } from './configuration-menu.tsx';
import { ConfigurationState } from './configuration-state.tsx';

type Configuration = Schema<'TelephonyConfigurationListItem'>;

const CONFIGURATIONS = '/api/v1/organizations/telephony-configs';
const REFRESH_MS = 5_000;

export function TelephonyPage() {
  const list = api.useQuery('get', CONFIGURATIONS, {}, { refetchInterval: REFRESH_MS });
  const providers = api.useQuery('get', '/api/v1/organizations/telephony-providers/metadata');
  const [isNew, setNew] = useState(false);
  const names = new Map(
    providers.data?.providers.map(({ provider, display_name: name }) => [provider, name]),
  );
  return (
    <Page
      title="Telephony"
      actions={
        <button type="button" className="primary" onClick={() => setNew(true)}>
          New configuration
        </button>
      }
    >
      <Warnings />
      <Loaded query={list}>
        {({ configurations }) => (
          <Table
            caption="Telephony configurations"
            columns={columnsOf((provider) => names.get(provider) ?? provider)}
            rows={configurations}
            keyOf={({ id }) => id}
            empty="There is no configuration yet. “New configuration” connects a PBX or a provider's account, over which calls come and go."
          />
        )}
      </Loaded>
      {isNew && (
        <Loaded query={providers}>
          {({ providers: all }) => (
            <ConfigurationForm providers={all} onClose={() => setNew(false)} />
          )}
        </Loaded>
      )}
    </Page>
  );
}

function columnsOf(
  nameOf: (provider: Configuration['provider']) => string,
): Column<Configuration>[] {
  return [
    { name: 'Name', cell: ({ id, name }) => <Link href={`/telephony/${id}`}>{name}</Link> },
    { name: 'Provider', cell: ({ provider }) => nameOf(provider) },
    {
      name: 'State',
      cell: (configuration) => <ConfigurationState configuration={configuration} />,
    },
    {
      name: 'Numbers',
      isNumber: true,
      cell: ({ phone_number_count: count }) => formatNumber(count),
    },
    {
      name: 'Calls per second',
      isNumber: true,
      cell: ({ calls_per_second: rate }) => (rate === null ? 'the provider’s' : formatNumber(rate)),
    },
    {
      name: 'Actions',
      cell: (configuration) => <ConfigurationMenu configuration={configuration} isLabelHidden />,
    },
  ];
}

/** Names of counts: `telnyx_missing_webhook_public_key_count`. */
const COUNT = /^([a-z]+)_missing_(.+)_count$/;

function Warnings() {
  const { data } = api.useQuery('get', '/api/v1/organizations/telephony-config-warnings');
  return Object.entries(data ?? {}).map(([name, count]) => {
    const [, provider = '', field = ''] = COUNT.exec(name) ?? [];
    if (count === 0) return null;
    return (
      <Notice key={name} tone="warn">
        {count === 1 ? 'One configuration' : `${count} configurations`} of {words(provider)}{' '}
        {count === 1 ? 'lacks' : 'lack'} the {words(field)}: its webhooks cannot be verified, and
        calls in over it are refused. Edit it to add one.
      </Notice>
    );
  });
}
