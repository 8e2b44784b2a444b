// Fields of forms: a label, the control, a hint and an error, tied together for screen readers.

import { type ComponentProps, type ReactNode, useId } from 'react';

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
}

/** The label, hint and error around a control, which gets its ids. */
export function Field({
  label,
  hint,
  error,
  children,
}: FieldProps & {
  children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode;
}) {
  const id = useId();
  const described = [
    hint === undefined ? '' : `${id}-hint`,
    error === undefined ? '' : `${id}-error`,
  ];
  const describedBy = described.filter(Boolean).join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...(describedBy === '' ? {} : { 'aria-describedby': describedBy }),
        ...(error === undefined ? {} : { 'aria-invalid': true }),
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="hint">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className="field-error">
          {error}
        </p>
      )}
    </div>
  );
}

export function TextField({ label, hint, error, ...input }: FieldProps & ComponentProps<'input'>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => <input type="text" {...input} {...ids} />}
    </Field>
  );
}

export function TextArea({
  label,
  hint,
  error,
  ...input
}: FieldProps & ComponentProps<'textarea'>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => <textarea rows={4} {...input} {...ids} />}
    </Field>
  );
}

export function SelectField({
  label,
  hint,
  error,
  options,
  ...input
}: FieldProps &
  ComponentProps<'select'> & { options: readonly { value: string; label: string }[] }) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <select {...input} {...ids}>
          {options.map(({ value, label: text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckField({ label, hint, error, ...input }: FieldProps & ComponentProps<'input'>) {
  const id = useId();
  return (
    <div className="field check">
      <label>
        <input type="checkbox" aria-describedby={hint === undefined ? undefined : id} {...input} />
        {label}
      </label>
      {hint !== undefined && (
        <p id={id} className="hint">
          {hint}
        </p>
      )}
      {error !== undefined && <p className="field-error">{error}</p>}
    </div>
  );
}
