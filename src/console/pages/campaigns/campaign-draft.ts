// What the form of a new campaign holds, and the request that it makes.

import type { Schema } from '../../api/client.ts';

export interface HoursRow {
  /** For the list of the form. */
  key: number;
  /** 0 is Monday. */
  days: number[];
  /** `HH:MM`. */
  start: string;
  end: string;
}

export interface Hours {
  isLimited: boolean;
  timezone: string;
  rows: HoursRow[];
}

export type Retry = Schema<'RetryConfigResponse'>;

export interface Draft {
  name: string;
  agentId: string;
  /** Empty: the default one. */
  configurationId: string;
  rate: string;
  /** Empty: the organization's limit. */
  concurrency: string;
  hours: Hours;
  retry: Retry;
}

const WORKING_DAYS = [0, 1, 2, 3, 4];

export function newHoursRow(key: number): HoursRow {
  return { key, days: WORKING_DAYS, start: '09:00', end: '17:00' };
}

/** The form at its beginning: pace and retries as in the last campaign. */
export function draftOf(defaults: Schema<'CampaignDefaultsResponse'>): Draft {
  const { last_campaign_settings: last, default_retry_config: retry } = defaults;
  return {
    name: '',
    agentId: '',
    configurationId: '',
    rate: String(last?.rate_limit_per_second ?? 1),
    concurrency: String(last?.max_concurrency ?? ''),
    hours: {
      isLimited: last?.schedule_config?.enabled ?? false,
      timezone: last?.schedule_config?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
      rows: rowsOf(last?.schedule_config?.slots ?? []),
    },
    retry: last?.retry_config ?? retry,
  };
}

/** Slots of the same hours in one row. */
function rowsOf(slots: Schema<'ScheduleConfigResponse'>['slots']): HoursRow[] {
  const rows: HoursRow[] = [];
  for (const { day_of_week: day, start_time: start, end_time: end } of slots) {
    const row = rows.find((each) => each.start === start && each.end === end);
    if (row === undefined) rows.push({ key: rows.length, days: [day], start, end });
    else row.days.push(day);
  }
  return rows.length === 0 ? [newHoursRow(0)] : rows;
}

export function bodyOf(draft: Draft, sourceId: string): Schema<'CreateCampaignRequest'> {
  const { hours, concurrency, configurationId } = draft;
  const slots = hours.rows.flatMap(({ days, start, end }) =>
    days.map((day) => ({ day_of_week: day, start_time: start, end_time: end })),
  );
  return {
    name: draft.name.trim(),
    workflow_id: draft.agentId,
    source_type: 'csv',
    source_id: sourceId,
    telephony_configuration_id: configurationId === '' ? null : configurationId,
    rate_limit_per_second: Number(draft.rate),
    max_concurrency: concurrency === '' ? null : Number(concurrency),
    schedule_config: hours.isLimited ? { enabled: true, timezone: hours.timezone, slots } : null,
    retry_config: draft.retry,
  };
}
