// The phone numbers of a configuration: which agent answers each, and which one calls go out with.

import { useState } from 'react';
import { Link } from 'wouter';
import { api, patientClient, type Schema } from '../../api/client.ts';
import { useAction } from '../../parts/action.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { Badge, Loaded, Notice } from '../../parts/notice.tsx';
import { type Column, Section, Table } from '../../parts/page.tsx';
import { NumberForm } from './number-form.tsx';
import { telephonyChanged } from './telephony-changed.ts';

type PhoneNumber = Schema<'PhoneNumberResponse'>;
type Detail = Schema<'TelephonyConfigurationDetail'>;
type Asked = { what: 'add' } | { what: 'edit' | 'remove'; number: PhoneNumber } | undefined;

const NUMBERS = '/api/v1/organizations/telephony-configs/{config_id}/phone-numbers';
const NUMBER = `${NUMBERS}/{phone_number_id}` as const;

export function Numbers({ configuration }: { configuration: Detail }) {
  const { id, trunks } = configuration;
  const numbers = api.useQuery('get', NUMBERS, { params: { path: { config_id: id } } });
  const [asked, setAsked] = useState<Asked>();
  const [refused, setRefused] = useState<string>();
  const { run, notice } = useAction();
  const pathOf = (number: PhoneNumber) => ({
    path: { config_id: id, phone_number_id: number.id },
  });
  const makeDefault = (number: PhoneNumber) =>
    run(async () => {
      await patientClient.POST(`${NUMBER}/set-default-caller`, { params: pathOf(number) });
      await telephonyChanged();
    });
  const remove = async (number: PhoneNumber) => {
    await patientClient.DELETE(NUMBER, { params: pathOf(number) });
    await telephonyChanged();
  };
  const close = () => setAsked(undefined);
  return (
    <Section
      title="Phone numbers"
      actions={
        <button type="button" className="primary" onClick={() => setAsked({ what: 'add' })}>
          Add a number
        </button>
      }
    >
      {notice}
      {refused !== undefined && (
        <Notice tone="warn">
          The number is saved, but the provider does not send its calls here: {refused}
        </Notice>
      )}
      <Loaded query={numbers}>
        {({ phone_numbers: rows }) => (
          <Table
            caption="Numbers of this configuration"
            columns={columnsOf({ trunks, onAsk: setAsked, onMakeDefault: makeDefault })}
            rows={rows}
            keyOf={(number) => number.id}
            empty="There is no number yet. Add one, and say which agent answers its calls."
          />
        )}
      </Loaded>
      {(asked?.what === 'add' || asked?.what === 'edit') && (
        <NumberForm
          configuration={configuration}
          stored={asked.what === 'edit' ? asked.number : undefined}
          onSaved={(sync) => setRefused(sync?.ok === false ? (sync.message ?? '') : undefined)}
          onClose={close}
        />
      )}
      {asked?.what === 'remove' && (
        <Confirm
          title={`Remove ${asked.number.address}?`}
          action="Remove"
          onConfirm={() => remove(asked.number)}
          onClose={close}
        >
          <p>Its calls no longer come here, and it is no longer a caller id.</p>
        </Confirm>
      )}
    </Section>
  );
}

function columnsOf({
  trunks,
  onAsk,
  onMakeDefault,
}: {
  trunks: Detail['trunks'];
  onAsk: (asked: Asked) => void;
  onMakeDefault: (number: PhoneNumber) => Promise<unknown>;
}): Column<PhoneNumber>[] {
  const trunkOf = (id: string | null) => trunks.find((trunk) => trunk.id === id)?.name;
  return [
    {
      name: 'Number',
      cell: ({ address, label }) => (
        <>
          {address}
          {label !== null && <p className="hint">{label}</p>}
        </>
      ),
    },
    {
      name: 'Answered by',
      cell: ({ inbound_workflow_id: id, inbound_workflow_name: name }) =>
        id === null ? 'nobody' : <Link href={`/agents/${id}`}>{name ?? id}</Link>,
    },
    ...(trunks.length === 0
      ? []
      : [
          {
            name: 'Trunk',
            cell: ({ telephony_trunk_id: id }: PhoneNumber) => trunkOf(id) ?? 'none',
          },
        ]),
    {
      name: 'State',
      cell: ({ is_active: isActive, is_default_caller_id: isDefault }) => (
        <>
          <Badge tone={isActive ? 'good' : 'plain'}>{isActive ? 'active' : 'off'}</Badge>{' '}
          {isDefault && <Badge tone="info">default caller id</Badge>}
        </>
      ),
    },
    {
      name: 'Actions',
      cell: (number) => (
        <Menu label={`Actions for ${number.address}`} isLabelHidden>
          <MenuItem onSelect={() => onAsk({ what: 'edit', number })}>Edit and route</MenuItem>
          {!number.is_default_caller_id && (
            <MenuItem onSelect={() => void onMakeDefault(number)}>
              Make it the default caller id
            </MenuItem>
          )}
          <MenuItem onSelect={() => onAsk({ what: 'remove', number })}>Remove</MenuItem>
        </Menu>
      ),
    },
  ];
}
