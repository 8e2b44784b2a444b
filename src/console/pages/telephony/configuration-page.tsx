// One telephony configuration: its numbers, trunks, doctor, files of the PBX or routing, each with an address of its own.

import { Link, useParams } from 'wouter';
import { api, type Schema } from '../../api/client.ts';
import { Loaded, Notice } from '../../parts/notice.tsx';
import { Page, Tabs } from '../../parts/page.tsx';
import { AsteriskFiles } from './asterisk-files.tsx';
import { ConfigurationMenu } from './configuration-menu.tsx';
import { ConfigurationState } from './configuration-state.tsx';
import { Doctor } from './doctor.tsx';
import { Numbers } from './numbers.tsx';
import { Routing } from './routing.tsx';
import { Trunks } from './trunks.tsx';
import { WatchedLines } from './watched-lines.tsx';

type Detail = Schema<'TelephonyConfigurationDetail'>;

const BACK = { href: '/telephony', name: 'Telephony' };
const REFRESH_MS = 5_000;

export function ConfigurationPage() {
  const { id = '', tab = '' } = useParams<{ id: string; tab?: string }>();
  const configuration = api.useQuery(
    'get',
    '/api/v1/organizations/telephony-configs/{config_id}',
    { params: { path: { config_id: id } } },
    { refetchInterval: REFRESH_MS },
  );
  const { data } = configuration;
  return (
    <Page
      title={data?.name ?? 'Configuration'}
      back={BACK}
      actions={data !== undefined && <ConfigurationMenu configuration={data} />}
    >
      <Loaded query={configuration}>
        {(loaded) => (
          <>
            <Summary configuration={loaded} />
            <Parts configuration={loaded} tab={tab} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Summary({ configuration }: { configuration: Detail }) {
  const { id, setup_checklist: checklist } = configuration;
  const missing = checklist?.steps.filter(({ complete }) => !complete) ?? [];
  return (
    <div className="configuration-summary">
      <ConfigurationState
        configuration={configuration}
        blockedReason={checklist?.outbound_blocked_reason ?? null}
      />
      {configuration.inactive && (
        <p className="hint">
          The <Link href={`/telephony/${id}/doctor`}>doctor</Link> says why, and what to do.
        </p>
      )}
      {missing.length > 0 && (
        <Notice tone="warn">
          {missing.map(({ title, description }) => `${title}: ${description}`).join('\n')}
        </Notice>
      )}
    </div>
  );
}

function Parts({ configuration, tab }: { configuration: Detail; tab: string }) {
  const { id, provider, supports_trunks: hasTrunks } = configuration;
  const isPbx = provider === 'ari';
  const root = `/telephony/${id}`;
  const parts = [
    { tab: '', name: 'Numbers', shown: <Numbers configuration={configuration} /> },
    ...(hasTrunks
      ? [{ tab: 'trunks', name: 'Trunks', shown: <Trunks configuration={configuration} /> }]
      : []),
    {
      tab: 'doctor',
      name: 'Doctor',
      shown: (
        <>
          <Doctor id={id} isPbx={isPbx} />
          <WatchedLines id={id} />
        </>
      ),
    },
    isPbx
      ? { tab: 'files', name: 'PBX files', shown: <AsteriskFiles id={id} /> }
      : { tab: 'routing', name: 'Routing', shown: <Routing id={id} /> },
  ];
  const at = parts.find((part) => part.tab === tab);
  const hrefOf = (of: string) => (of === '' ? root : `${root}/${of}`);
  return (
    <>
      <Tabs
        at={hrefOf(tab)}
        tabs={parts.map(({ tab: of, name }) => ({ href: hrefOf(of), name }))}
      />
      {at?.shown ?? <Notice tone="bad">This part of the page does not exist.</Notice>}
    </>
  );
}
