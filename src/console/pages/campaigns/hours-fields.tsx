// The hours of a campaign: days and times in a time zone.

import { CheckField, TextField } from '../../parts/field.tsx';
import { type Hours, type HoursRow, newHoursRow } from './campaign-draft.ts';
import { DAYS } from './campaign-settings.tsx';

/** Rows of a form; seven days of each are fewer than the slots of a campaign. */
const ROWS_MAX = 7;
const ZONES = Intl.supportedValuesOf('timeZone');

export function HoursFields({
  hours,
  onChange,
}: {
  hours: Hours;
  onChange: (hours: Hours) => void;
}) {
  const { isLimited, timezone, rows } = hours;
  const setRow = (row: HoursRow) =>
    onChange({ ...hours, rows: rows.map((each) => (each.key === row.key ? row : each)) });
  return (
    <fieldset className="group">
      <legend>Hours</legend>
      <CheckField
        label="Call only within these hours"
        checked={isLimited}
        onChange={({ target }) => onChange({ ...hours, isLimited: target.checked })}
      />
      {isLimited && (
        <>
          <TextField
            label="Time zone"
            list="time-zones"
            value={timezone}
            onChange={({ target }) => onChange({ ...hours, timezone: target.value })}
            hint="The zone of the contacts, such as America/New_York."
            required
          />
          <datalist id="time-zones">
            {ZONES.map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
          {rows.map((row, at) => (
            <Row
              key={row.key}
              name={`Hours ${at + 1}`}
              row={row}
              onChange={setRow}
              onRemove={
                rows.length === 1
                  ? undefined
                  : () => onChange({ ...hours, rows: rows.filter((each) => each !== row) })
              }
            />
          ))}
          <button
            type="button"
            disabled={rows.length >= ROWS_MAX}
            onClick={() => {
              const key = Math.max(...rows.map((each) => each.key)) + 1;
              onChange({ ...hours, rows: [...rows, newHoursRow(key)] });
            }}
          >
            Add hours
          </button>
        </>
      )}
    </fieldset>
  );
}

function Row({
  name,
  row,
  onChange,
  onRemove,
}: {
  name: string;
  row: HoursRow;
  onChange: (row: HoursRow) => void;
  onRemove: (() => void) | undefined;
}) {
  const { days, start, end } = row;
  const toggle = (day: number) =>
    onChange({
      ...row,
      days: days.includes(day) ? days.filter((each) => each !== day) : [...days, day].sort(),
    });
  return (
    <fieldset className="hours">
      <legend className="hidden">{name}</legend>
      <div className="days">
        {DAYS.map((label, day) => (
          <label key={label}>
            <input
              type="checkbox"
              checked={days.includes(day)}
              // One day at least: the browser asks for it.
              required={days.length === 0 && day === 0}
              onChange={() => toggle(day)}
            />
            {label}
          </label>
        ))}
      </div>
      <TextField
        label="From"
        type="time"
        value={start}
        onChange={({ target }) => onChange({ ...row, start: target.value })}
        required
      />
      <TextField
        label="Until"
        type="time"
        value={end === '24:00' ? '00:00' : end}
        onChange={({ target }) => onChange({ ...row, end: target.value })}
        required
      />
      {onRemove !== undefined && (
        <button type="button" onClick={onRemove}>
          Remove<span className="hidden"> {name}</span>
        </button>
      )}
    </fieldset>
  );
}
