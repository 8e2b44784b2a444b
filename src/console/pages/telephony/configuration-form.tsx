// The form of a telephony configuration, new or stored, by the provider's description of its fields.

import { useState } from 'react';
import { useLocation } from 'wouter';
import { patientClient, type Schema } from '../../api/client.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { SpecForm } from '../../parts/spec-form.tsx';
import {
  errorsBelow,
  formValues,
  type SpecField,
  sentValues,
  storedSecrets,
} from '../../parts/spec-values.ts';
import { telephonyChanged } from './telephony-changed.ts';

type Detail = Schema<'TelephonyConfigurationDetail'>;

interface Provider {
  provider: Detail['provider'];
  display_name: string;
  fields: readonly SpecField[];
  docs_url: string | null;
}

const ROOT = '/api/v1/organizations/telephony-configs';
const NAME_MAX = 64;
const RATE_MAX = 1_000;

export function ConfigurationForm({
  providers,
  stored,
  onClose,
}: {
  providers: readonly Provider[];
  /** Left out for a new one. */
  stored?: Detail;
  onClose: () => void;
}) {
  const [name, setName] = useState(stored?.name ?? '');
  const [provider, setProvider] = useState(stored?.provider ?? providers[0]?.provider);
  const [rate, setRate] = useState(String(stored?.calls_per_second ?? ''));
  const [isDefault, setDefault] = useState(false);
  const chosen = providers.find((each) => each.provider === provider);
  const fields = chosen?.fields ?? [];
  const [typed, setTyped] = useState<Record<string, string | boolean>>({});
  const values = { ...formValues(fields, stored?.credentials), ...typed };
  const [, navigate] = useLocation();
  const submit = async () => {
    if (provider === undefined) return;
    const config = { ...sentValues(fields, values, stored?.credentials), provider };
    const callsPerSecond = rate.trim() === '' ? null : Number(rate);
    const body = { name, calls_per_second: callsPerSecond, config };
    const id = await save(body, { id: stored?.id, isDefault });
    await telephonyChanged();
    if (stored === undefined) navigate(`/telephony/${id}`);
  };
  return (
    <FormDialog
      title={stored === undefined ? 'New configuration' : `Edit ${stored.name}`}
      action="Save"
      busyAction="Checking with the provider …"
      onSubmit={submit}
      onClose={onClose}
    >
      {(errors) => (
        <>
          {stored === undefined && (
            <SelectField
              label="Provider"
              value={provider ?? ''}
              options={providers.map((each) => ({
                value: each.provider,
                label: each.display_name,
              }))}
              onChange={({ target }) => {
                setProvider(target.value as Detail['provider']);
                setTyped({});
              }}
            />
          )}
          <TextField
            label="Name"
            value={name}
            maxLength={NAME_MAX}
            required
            error={errors['name']}
            onChange={({ target }) => setName(target.value)}
          />
          <SpecForm
            fields={fields}
            values={values}
            errors={errorsBelow(errors, 'config', provider ?? '')}
            stored={storedSecrets(fields, stored?.credentials ?? {})}
            onChange={(field, value) => setTyped({ ...typed, [field]: value })}
          />
          <TextField
            label="Calls per second (optional)"
            type="number"
            min={1}
            max={RATE_MAX}
            value={rate}
            hint="The most that are dialled over it. Empty: as many as the provider accepts."
            error={errors['calls_per_second']}
            onChange={({ target }) => setRate(target.value)}
          />
          {stored === undefined && (
            <CheckField
              label="Use it for outbound calls that name no configuration"
              checked={isDefault}
              onChange={({ target }) => setDefault(target.checked)}
            />
          )}
        </>
      )}
    </FormDialog>
  );
}

interface Body {
  name: string;
  calls_per_second: number | null;
  config: Record<string, string | boolean>;
}

/** The gateway checks the fields of each provider: the page knows them by their description alone. */
async function save(
  { config, ...body }: Body,
  { id, isDefault }: { id: string | undefined; isDefault: boolean },
): Promise<string> {
  if (id === undefined) {
    const { data } = await patientClient.POST(ROOT, {
      body: { ...body, is_default_outbound: isDefault, config: config as never },
    });
    return data?.id ?? '';
  }
  await patientClient.PUT(`${ROOT}/{config_id}`, {
    params: { path: { config_id: id } },
    body: { ...body, config: config as never },
  });
  return id;
}
