// The form of a phone number: its address, the agent that answers it, and the trunk that it goes over.

import { useState } from 'react';
import { api, patientClient, type Schema } from '../../api/client.ts';
import { textOf } from '../../api/errors.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { telephonyChanged } from './telephony-changed.ts';

type PhoneNumber = Schema<'PhoneNumberResponse'>;

const NUMBERS = '/api/v1/organizations/telephony-configs/{config_id}/phone-numbers';
const NONE = '';
const ADDRESS_MAX = 255;
const LABEL_MAX = 64;

interface Typed {
  address: string;
  country: string;
  label: string;
  agent: string;
  trunk: string;
  isActive: boolean;
  isDefault: boolean;
}

interface NumberFormProps {
  configuration: Schema<'TelephonyConfigurationDetail'>;
  /** Undefined for a new one. */
  stored: PhoneNumber | undefined;
  onSaved: (sync: PhoneNumber['provider_sync']) => void;
  onClose: () => void;
}

export function NumberForm({ configuration, stored, onSaved, onClose }: NumberFormProps) {
  const [typed, setTyped] = useState<Typed>({
    address: stored?.address ?? '',
    country: stored?.country_code ?? '',
    label: stored?.label ?? '',
    agent: stored?.inbound_workflow_id ?? NONE,
    trunk: stored?.telephony_trunk_id ?? NONE,
    isActive: stored?.is_active ?? true,
    isDefault: false,
  });
  const submit = async () => {
    onSaved(await save(configuration.id, stored, typed));
    await telephonyChanged();
  };
  return (
    <FormDialog
      title={stored === undefined ? 'Add a number' : `Number ${stored.address}`}
      action="Save"
      busyAction="Checking with the provider …"
      onSubmit={submit}
      onClose={onClose}
    >
      {(errors) => (
        <NumberFields
          configuration={configuration}
          stored={stored}
          typed={typed}
          errors={errors}
          onChange={(change) => setTyped({ ...typed, ...change })}
        />
      )}
    </FormDialog>
  );
}

function NumberFields({
  configuration,
  stored,
  typed,
  errors,
  onChange,
}: Pick<NumberFormProps, 'configuration' | 'stored'> & {
  typed: Typed;
  errors: Readonly<Record<string, string>>;
  onChange: (change: Partial<Typed>) => void;
}) {
  return (
    <>
      {stored === undefined && (
        <TextField
          label="Number"
          value={typed.address}
          maxLength={ADDRESS_MAX}
          placeholder="+14155550100"
          hint="With + and country code; or an extension of the PBX, or a SIP URI."
          required
          error={errors['address']}
          onChange={({ target }) => onChange({ address: target.value })}
        />
      )}
      <TextField
        label="Country (optional)"
        value={typed.country}
        maxLength={2}
        placeholder="US"
        hint="Two letters, for a number without +."
        error={errors['country_code']}
        onChange={({ target }) => onChange({ country: target.value.toUpperCase() })}
      />
      <TextField
        label="Label (optional)"
        value={typed.label}
        maxLength={LABEL_MAX}
        error={errors['label']}
        onChange={({ target }) => onChange({ label: target.value })}
      />
      <AgentField
        value={typed.agent}
        storedName={stored?.inbound_workflow_name ?? null}
        error={errors['inbound_workflow_id']}
        onChange={(agent) => onChange({ agent })}
      />
      {configuration.supports_trunks && (
        <SelectField
          label="Trunk"
          value={typed.trunk}
          options={[
            { value: NONE, label: 'none' },
            ...configuration.trunks.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          error={errors['telephony_trunk_id']}
          onChange={({ target }) => onChange({ trunk: target.value })}
        />
      )}
      <CheckField
        label="Active: its calls are answered, and it can be a caller id"
        checked={typed.isActive}
        onChange={({ target }) => onChange({ isActive: target.checked })}
      />
      {stored === undefined && (
        <CheckField
          label="Use it as the caller id of calls that name none"
          checked={typed.isDefault}
          onChange={({ target }) => onChange({ isDefault: target.checked })}
        />
      )}
    </>
  );
}

function AgentField({
  value,
  storedName,
  error,
  onChange,
}: {
  value: string;
  /** Name of the stored agent, which may be archived. */
  storedName: string | null;
  error: string | undefined;
  onChange: (id: string) => void;
}) {
  const { data: agents = [], error: listError } = api.useQuery('get', '/api/v1/workflow/summary', {
    params: { query: { status: 'active' } },
  });
  const isListed = value === NONE || agents.some(({ id }) => id === value);
  return (
    <SelectField
      label="Agent that answers its calls"
      value={value}
      options={[
        { value: NONE, label: 'nobody' },
        ...(isListed ? [] : [{ value, label: storedName ?? value }]),
        ...agents.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      error={error ?? (listError === null ? undefined : `Agents not listed: ${textOf(listError)}`)}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

/** What the provider says to the number's route; null if it was not asked. */
async function save(
  configurationId: string,
  stored: PhoneNumber | undefined,
  { address, country, label, agent, trunk, isActive, isDefault }: Typed,
): Promise<PhoneNumber['provider_sync']> {
  const path = { config_id: configurationId };
  const common = {
    country_code: country === '' ? null : country,
    label: label === '' ? null : label,
    is_active: isActive,
  };
  if (stored === undefined) {
    const { data } = await patientClient.POST(NUMBERS, {
      params: { path },
      body: {
        ...common,
        address,
        inbound_workflow_id: agent === NONE ? null : agent,
        telephony_trunk_id: trunk === NONE ? null : trunk,
        is_default_caller_id: isDefault,
      },
    });
    return data?.provider_sync ?? null;
  }
  const isRouted = agent !== (stored.inbound_workflow_id ?? NONE);
  const { data } = await patientClient.PUT(`${NUMBERS}/{phone_number_id}`, {
    params: { path: { ...path, phone_number_id: stored.id } },
    body: {
      ...common,
      ...(isRouted && agent !== NONE ? { inbound_workflow_id: agent } : {}),
      clear_inbound_workflow: isRouted && agent === NONE,
      ...(trunk === NONE ? { clear_trunk: true } : { telephony_trunk_id: trunk }),
    },
  });
  return data?.provider_sync ?? null;
}
