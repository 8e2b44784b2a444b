// Whether and when contacts of a campaign are called again.

import { CheckField, TextField } from '../../parts/field.tsx';
import type { Retry } from './campaign-draft.ts';

const REASONS = [
  ['retry_on_no_answer', 'Nobody answered'],
  ['retry_on_busy', 'The line was busy'],
  ['retry_on_voicemail', 'An answering machine answered'],
] as const;

export function RetryFields({
  retry,
  onChange,
}: {
  retry: Retry;
  onChange: (retry: Retry) => void;
}) {
  const number = (name: 'max_retries' | 'retry_delay_seconds', value: string) =>
    onChange({ ...retry, [name]: Number(value) });
  return (
    <fieldset className="group">
      <legend>Retries</legend>
      <CheckField
        label="Call contacts again who were not reached"
        checked={retry.enabled}
        onChange={({ target }) => onChange({ ...retry, enabled: target.checked })}
      />
      {retry.enabled && (
        <>
          <div className="filters">
            <TextField
              label="Further calls"
              type="number"
              min={0}
              max={10}
              value={retry.max_retries}
              onChange={({ target }) => number('max_retries', target.value)}
              required
            />
            <TextField
              label="Seconds between calls"
              type="number"
              min={30}
              max={3_600}
              value={retry.retry_delay_seconds}
              onChange={({ target }) => number('retry_delay_seconds', target.value)}
              required
            />
          </div>
          {REASONS.map(([name, label]) => (
            <CheckField
              key={name}
              label={label}
              checked={retry[name]}
              onChange={({ target }) => onChange({ ...retry, [name]: target.checked })}
            />
          ))}
        </>
      )}
    </fieldset>
  );
}
