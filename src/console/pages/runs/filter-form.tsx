// The form of the filters. It writes the address when it is sent, so that each list has an address of its own.

import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import { textOf } from '../../api/errors.ts';
import { words } from '../../format.ts';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { FILTER_NAMES, isoOf, localTime, type RunFilters } from './run-filters.ts';

type Options = { value: string; label: string }[];

/** Filters that are always to be seen; the others are behind a click. */
const FIRST: readonly string[] = ['text', 'number', 'agent', 'attention'];
/** Campaigns to choose from: the newest. */
const CAMPAIGNS_MAX = 100;
const CHOICES_MS_FRESH = 60_000;

const DIRECTIONS: Options = [
  { value: '', label: 'Both' },
  { value: 'inbound', label: 'Inbound' },
  { value: 'outbound', label: 'Outbound' },
];
const STATES: Options = [
  { value: '', label: 'Any' },
  { value: 'initialized', label: 'Not answered yet' },
  { value: 'running', label: 'In progress' },
  { value: 'completed', label: 'Completed' },
];

export function FilterForm({
  filters,
  hasRuns,
  onFilter,
  onClear,
}: {
  filters: RunFilters;
  /** Choices are asked for once the list has its first runs, which they would delay. */
  hasRuns: boolean;
  onFilter: (filters: RunFilters) => void;
  onClear: () => void;
}) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onFilter(filtersOf(new FormData(event.currentTarget)));
  };
  const further = FILTER_NAMES.filter(
    (name) => filters[name] !== undefined && !FIRST.includes(name),
  );
  // Once they were opened they stay, since a form sends what its closed parts have.
  const [wasOpened, setOpened] = useState(further.length > 0);
  return (
    <search aria-label="Filters">
      <form onSubmit={submit}>
        <div className="filters">
          <TextField label="Words" name="text" defaultValue={filters.text} maxLength={200} />
          <TextField label="Number" name="number" defaultValue={filters.number} maxLength={100} />
          <AgentField chosen={filters.agent} isAsked={hasRuns} />
          <CheckField
            label="Needs attention"
            name="attention"
            value="1"
            defaultChecked={filters.attention !== undefined}
          />
          <div className="actions">
            <button type="submit" className="primary">
              Apply
            </button>
            {Object.keys(filters).length > 0 && (
              <button type="button" onClick={onClear}>
                Clear
              </button>
            )}
          </div>
        </div>
        <details
          className="more-filters"
          open={further.length > 0}
          onToggle={({ currentTarget }) => currentTarget.open && setOpened(true)}
        >
          <summary>More filters{further.length > 0 && ` (${further.length} set)`}</summary>
          {wasOpened && <FurtherFields filters={filters} isAsked={hasRuns} />}
        </details>
      </form>
    </search>
  );
}

function FurtherFields({ filters, isAsked }: { filters: RunFilters; isAsked: boolean }) {
  const { from, to, direction, state, provider, min, max } = filters;
  const moment = { type: 'datetime-local', step: 60 };
  const seconds = { type: 'number', min: 0, max: 86_400 };
  return (
    <div className="filters">
      <TextField label="From" name="from" defaultValue={localTime(from)} {...moment} />
      <TextField label="Until" name="to" defaultValue={localTime(to)} {...moment} />
      <CampaignField chosen={filters.campaign} isAsked={isAsked} />
      <SelectField
        label="Direction"
        name="direction"
        defaultValue={direction}
        options={DIRECTIONS}
      />
      <SelectField label="State" name="state" defaultValue={state} options={STATES} />
      <DispositionField chosen={filters.disposition} isAsked={isAsked} />
      <TextField label="Provider" name="provider" defaultValue={provider} maxLength={50} />
      <TextField label="Shortest, seconds" name="min" defaultValue={min} {...seconds} />
      <TextField label="Longest, seconds" name="max" defaultValue={max} {...seconds} />
    </div>
  );
}

function filtersOf(form: FormData): RunFilters {
  const filters: RunFilters = {};
  for (const name of FILTER_NAMES) {
    const text = String(form.get(name) ?? '').trim();
    const value = name === 'from' || name === 'to' ? isoOf(text) : text;
    if (value !== undefined && value !== '') filters[name] = value;
  }
  return filters;
}

interface ChoiceProps {
  chosen: string | undefined;
  /** Whether the gateway is asked for the choices. */
  isAsked: boolean;
}

function AgentField({ chosen, isAsked }: ChoiceProps) {
  const { data = [], error } = api.useQuery(
    'get',
    '/api/v1/organizations/reports/workflows',
    {},
    { staleTime: CHOICES_MS_FRESH, enabled: isAsked },
  );
  const options = data.map(({ id, name }) => ({ value: id, label: name }));
  return <Choice label="Agent" name="agent" chosen={chosen} options={options} error={error} />;
}

function CampaignField({ chosen, isAsked }: ChoiceProps) {
  const { data, error } = api.useQuery(
    'get',
    '/api/v1/campaign',
    { params: { query: { limit: CAMPAIGNS_MAX } } },
    { staleTime: CHOICES_MS_FRESH, enabled: isAsked },
  );
  const options = (data?.campaigns ?? []).map(({ id, name }) => ({ value: id, label: name }));
  return (
    <Choice label="Campaign" name="campaign" chosen={chosen} options={options} error={error} />
  );
}

function DispositionField({ chosen, isAsked }: ChoiceProps) {
  const { data, error } = api.useQuery(
    'get',
    '/api/v1/organizations/disposition-codes',
    {},
    { staleTime: CHOICES_MS_FRESH, enabled: isAsked },
  );
  const options = (data?.codes ?? []).map((code) => ({ value: code, label: words(code) }));
  return (
    <Choice
      label="Disposition"
      name="disposition"
      chosen={chosen}
      options={options}
      error={error}
    />
  );
}

/** A choice among what the gateway listed, and what the address names. */
function Choice(props: {
  label: string;
  name: string;
  chosen: string | undefined;
  options: Options;
  /** Why they cannot be listed; null if they can. */
  error: unknown;
}) {
  const { label, name, chosen = '', options, error } = props;
  const isListed = chosen === '' || options.some(({ value }) => value === chosen);
  const all = [
    { value: '', label: 'Any' },
    ...options,
    ...(isListed ? [] : [{ value: chosen, label: chosen }]),
  ];
  // Another key: the choice is set again when the list arrives.
  return (
    <SelectField
      key={options.length}
      label={label}
      name={name}
      defaultValue={chosen}
      options={all}
      error={error === null ? undefined : `Not listed: ${textOf(error)}`}
    />
  );
}
