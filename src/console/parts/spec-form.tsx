// Fields of a form by the gateway's description of them: its type, options, condition, and whether it is a secret.
// Secrets that are stored are never shown: an empty field keeps them.

import { CheckField, SelectField, TextArea, TextField } from './field.tsx';
import { type FormValues, isVisible, type SpecField } from './spec-values.ts';

interface SpecFormProps {
  fields: readonly SpecField[];
  values: FormValues;
  onChange: (name: string, value: string | boolean) => void;
  /** Texts by the name of a field. */
  errors: Readonly<Record<string, string>>;
  /** Secrets that the gateway has. */
  stored?: ReadonlySet<string>;
}

export function SpecForm({ fields, values, onChange, errors, stored }: SpecFormProps) {
  return fields
    .filter((field) => isVisible(field, values))
    .map((field) => (
      <OneField
        key={field.name}
        field={field}
        value={values[field.name]}
        error={errors[field.name]}
        isStored={stored?.has(field.name) === true}
        onChange={(value) => onChange(field.name, value)}
      />
    ));
}

function OneField({
  field,
  value,
  error,
  isStored,
  onChange,
}: {
  field: SpecField;
  value: string | boolean | undefined;
  error: string | undefined;
  isStored: boolean;
  onChange: (value: string | boolean) => void;
}) {
  const { label, type, required, sensitive, description, placeholder, options } = field;
  const kept = sensitive && isStored ? 'Stored. Leave it empty to keep it.' : undefined;
  const hint = [description, kept].filter(Boolean).join(' ');
  const isWanted = required && kept === undefined;
  const common = {
    label: isWanted ? label : `${label} (optional)`,
    error,
    ...(hint === '' ? {} : { hint }),
  };
  const text = {
    ...common,
    value: String(value ?? ''),
    required: isWanted,
    placeholder: kept === undefined ? (placeholder ?? undefined) : 'unchanged',
    autoComplete: 'off',
    spellCheck: false,
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  };
  switch (type) {
    case 'boolean':
      return (
        <CheckField
          {...common}
          label={label}
          checked={value === true}
          onChange={({ target }) => onChange(target.checked)}
        />
      );
    case 'select':
      return (
        <SelectField
          {...common}
          label={label}
          value={String(value ?? '')}
          options={options ?? []}
          onChange={({ target }) => onChange(target.value)}
        />
      );
    case 'textarea':
      return <TextArea {...text} rows={6} className="code-input" />;
    default:
      // Browsers offer to keep passwords that are not the user's.
      return (
        <TextField
          {...text}
          type={type === 'password' ? 'password' : 'text'}
          autoComplete={type === 'password' ? 'new-password' : 'off'}
        />
      );
  }
}
