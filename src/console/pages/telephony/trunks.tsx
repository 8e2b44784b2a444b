// The trunks of a configuration, over which its numbers' calls reach the telephone network.

import { useState } from 'react';
import { client, type Schema } from '../../api/client.ts';
import { formatValue } from '../../format.ts';
import { Confirm, FormDialog } from '../../parts/dialog.tsx';
import { CheckField, TextArea, TextField } from '../../parts/field.tsx';
import { objectIn } from '../../parts/json-object.ts';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { Badge } from '../../parts/notice.tsx';
import { Section, Table } from '../../parts/page.tsx';
import { telephonyChanged } from './telephony-changed.ts';

type Trunk = Schema<'TrunkResponse'>;
type Asked = { what: 'add' } | { what: 'edit' | 'remove'; trunk: Trunk } | undefined;

const TRUNKS = '/api/v1/organizations/telephony-configs/{config_id}/trunks';
const TRUNK = `${TRUNKS}/{trunk_id}` as const;
const NAME_MAX = 64;

export function Trunks({
  configuration: { id, trunks },
}: {
  configuration: Schema<'TelephonyConfigurationDetail'>;
}) {
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  const remove = async (trunk: Trunk) => {
    await client.DELETE(TRUNK, { params: { path: { config_id: id, trunk_id: trunk.id } } });
    await telephonyChanged();
  };
  return (
    <Section
      title="Trunks"
      actions={
        <button type="button" className="primary" onClick={() => setAsked({ what: 'add' })}>
          Add a trunk
        </button>
      }
    >
      <Table
        caption="Trunks of this configuration"
        columns={[
          { name: 'Name', cell: ({ name }) => name },
          {
            name: 'State',
            cell: ({ enabled }) => (
              <Badge tone={enabled ? 'good' : 'plain'}>{enabled ? 'in use' : 'off'}</Badge>
            ),
          },
          {
            name: 'Settings',
            cell: ({ settings }) =>
              Object.entries(settings)
                .map(([name, value]) => `${name}: ${formatValue(value)}`)
                .join(', '),
          },
          { name: 'Numbers', isNumber: true, cell: ({ phone_number_count: count }) => count },
          {
            name: 'Actions',
            cell: (trunk) => (
              <Menu label={`Actions for ${trunk.name}`} isLabelHidden>
                <MenuItem onSelect={() => setAsked({ what: 'edit', trunk })}>Edit</MenuItem>
                <MenuItem onSelect={() => setAsked({ what: 'remove', trunk })}>Remove</MenuItem>
              </Menu>
            ),
          },
        ]}
        rows={trunks}
        keyOf={(trunk) => trunk.id}
        empty="There is no trunk yet: outbound calls need one."
      />
      {(asked?.what === 'add' || asked?.what === 'edit') && (
        <TrunkForm
          configurationId={id}
          stored={asked.what === 'edit' ? asked.trunk : undefined}
          onClose={close}
        />
      )}
      {asked?.what === 'remove' && (
        <Confirm
          title={`Remove ${asked.trunk.name}?`}
          action="Remove"
          onConfirm={() => remove(asked.trunk)}
          onClose={close}
        >
          <p>Outbound calls no longer use it. A trunk that a number uses cannot be removed.</p>
        </Confirm>
      )}
    </Section>
  );
}

function TrunkForm({
  configurationId,
  stored,
  onClose,
}: {
  configurationId: string;
  stored: Trunk | undefined;
  onClose: () => void;
}) {
  const [name, setName] = useState(stored?.name ?? '');
  const [isEnabled, setEnabled] = useState(stored?.enabled ?? true);
  const [settings, setSettings] = useState(JSON.stringify(stored?.settings ?? {}, null, 2));
  const values = objectIn(settings);
  const submit = async () => {
    if (values === undefined) return;
    const body = { name, enabled: isEnabled, settings: values };
    const path = { config_id: configurationId };
    if (stored === undefined) await client.POST(TRUNKS, { params: { path }, body });
    else await client.PUT(TRUNK, { params: { path: { ...path, trunk_id: stored.id } }, body });
    await telephonyChanged();
  };
  return (
    <FormDialog
      title={stored === undefined ? 'Add a trunk' : `Trunk ${stored.name}`}
      action="Save"
      isDisabled={values === undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <TextField
            label="Name"
            value={name}
            maxLength={NAME_MAX}
            required
            error={errors['name']}
            onChange={({ target }) => setName(target.value)}
          />
          <CheckField
            label="Use it for outbound calls"
            checked={isEnabled}
            onChange={({ target }) => setEnabled(target.checked)}
          />
          <TextArea
            label="Settings (JSON)"
            className="code-input"
            rows={4}
            value={settings}
            spellCheck={false}
            hint="As the provider's trunks have them: of Cloudonix, region and sip_domain."
            error={values === undefined ? 'This is not an object in JSON.' : errors['settings']}
            onChange={({ target }) => setSettings(target.value)}
          />
        </>
      )}
    </FormDialog>
  );
}
