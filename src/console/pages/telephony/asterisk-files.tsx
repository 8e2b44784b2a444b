// What belongs into the files of an Asterisk for calls over a configuration, to copy, with the commands around them.

import { useDeferredValue, useState } from 'react';
import { api } from '../../api/client.ts';
import { Code } from '../../parts/copy.tsx';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { Loaded, Notice } from '../../parts/notice.tsx';
import { Facts, Section } from '../../parts/page.tsx';

const MODES = ['server', 'client', 'incoming', 'audiosocket', 'rtp'] as const;
type Mode = (typeof MODES)[number];

const MODE_NAMES: Readonly<Record<Mode, string>> = {
  server: 'The gateway connects for events and audio',
  client: 'Asterisk connects for audio',
  incoming: 'Asterisk connects for both',
  audiosocket: 'Audio over AudioSocket (TCP)',
  rtp: 'Audio over RTP (UDP)',
};
const OWN = '';
const CONTEXT = 'patchbay-in';

export function AsteriskFiles({ id }: { id: string }) {
  const [mode, setMode] = useState<Mode | typeof OWN>(OWN);
  const [context, setContext] = useState(CONTEXT);
  const [numbers, setNumbers] = useState('');
  const [isFreePbx, setFreePbx] = useState(false);
  const query = useDeferredValue({
    ...(mode === OWN ? {} : { mode }),
    ...(context.trim() === '' ? {} : { context: context.trim() }),
    ...(numbers.trim() === '' ? {} : { numbers: numbers.trim() }),
    freepbx: isFreePbx,
  });
  const files = api.useQuery(
    'get',
    '/api/v1/organizations/telephony-configs/{config_id}/asterisk-files',
    { params: { path: { config_id: id }, query } },
    { placeholderData: (before) => before },
  );
  return (
    <>
      <div className="filters file-filters">
        <SelectField
          label="Connection mode"
          value={mode}
          options={[
            { value: OWN, label: 'As the configuration says' },
            ...MODES.map((value) => ({ value, label: MODE_NAMES[value] })),
          ]}
          onChange={({ target }) => setMode(target.value as Mode | typeof OWN)}
        />
        <TextField
          label="Dialplan context"
          value={context}
          maxLength={80}
          onChange={({ target }) => setContext(target.value)}
        />
        <TextField
          label="Extensions (optional)"
          value={numbers}
          maxLength={4_000}
          placeholder="all numbers"
          onChange={({ target }) => setNumbers(target.value)}
        />
        <CheckField
          label="FreePBX"
          checked={isFreePbx}
          onChange={({ target }) => setFreePbx(target.checked)}
        />
      </div>
      <Loaded query={files}>{(plan) => <Plan plan={plan} />}</Loaded>
    </>
  );
}

interface PlanProps {
  plan: {
    mode: Mode;
    files: { name: string; text: string }[];
    shell: string[];
    reloads: string[];
    steps: string[];
    checks: { command: string; shows: string }[];
    configuration: Record<string, string>;
    password_placeholder: string;
  };
}

function Plan({ plan }: PlanProps) {
  const { mode, files, shell, reloads, steps, checks, configuration } = plan;
  return (
    <>
      <Notice tone="info">
        {MODE_NAMES[mode]}. Replace {plan.password_placeholder} by the ARI password: the gateway
        does not show it.
      </Notice>
      {shell.length > 0 && (
        <Section title="First, in the shell of the PBX">
          <Code name="Commands before the files change" text={shell.join('\n')} />
        </Section>
      )}
      {files.map(({ name, text }) => (
        <Section key={name} title={`/etc/asterisk/${name}`}>
          <Code name={name} text={text} />
        </Section>
      ))}
      {steps.length > 0 && (
        <Section title="In the web interface of FreePBX">
          <ol className="pbx-steps">
            {steps.map((step) => (
              <li key={step}>{step}</li>
            ))}
          </ol>
        </Section>
      )}
      {reloads.length > 0 && (
        <Section title="Then, to load them">
          <Code name="Commands that load the files" text={reloads.join('\n')} />
        </Section>
      )}
      <Section title="The configuration here must have">
        <Facts facts={Object.entries(configuration)} />
      </Section>
      {checks.length > 0 && (
        <Section title="What shows that all is well">
          <dl className="checks">
            {checks.map(({ command, shows }) => (
              <div key={command}>
                <dt>
                  <code>{command}</code>
                </dt>
                <dd>{shows}</dd>
              </div>
            ))}
          </dl>
        </Section>
      )}
    </>
  );
}
