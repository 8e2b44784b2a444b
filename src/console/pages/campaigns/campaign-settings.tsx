// The settings of a campaign as facts, and the words for its hours.

import { Link } from 'wouter';
import { formatNumber, formatTime } from '../../format.ts';
import { Facts } from '../../parts/page.tsx';
import type { Campaign } from './campaign-words.ts';

export const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

interface Slot {
  day_of_week: number;
  start_time: string;
  end_time: string;
}
type Retry = Campaign['retry_config'];

export function SettingFacts({ campaign }: { campaign: Campaign }) {
  const { workflow_id, workflow_name, telephony_configuration_name: telephony } = campaign;
  const { max_concurrency: concurrency, rate_limit_per_second: rate } = campaign;
  const agent = <Link href={`/agents/${workflow_id}`}>{workflow_name}</Link>;
  const { schedule_config: schedule, created_at, started_at, completed_at } = campaign;
  return (
    <Facts
      facts={[
        ['Agent', agent],
        ['Telephony', telephony ?? 'the default configuration'],
        ['Calls per second', formatNumber(rate)],
        ['Concurrent calls', concurrency === null ? "the organization's limit" : concurrency],
        [
          'Hours',
          schedule?.enabled === true
            ? `${hoursText(schedule.slots)}, ${schedule.timezone}`
            : 'at any time',
        ],
        ['Retries', retryText(campaign.retry_config)],
        ['Created', formatTime(created_at)],
        ['Started', started_at && formatTime(started_at)],
        ['Ended', completed_at && formatTime(completed_at)],
      ]}
    />
  );
}

/** `Mon Tue 09:00–17:00; Sat 10:00–12:00` */
export function hoursText(slots: readonly Slot[]): string {
  const byHours = new Map<string, string[]>();
  for (const { day_of_week: day, start_time: start, end_time: end } of slots) {
    const hours = `${start}–${end}`;
    byHours.set(hours, [...(byHours.get(hours) ?? []), DAYS[day] ?? '']);
  }
  return [...byHours].map(([hours, days]) => `${days.join(' ')} ${hours}`).join('; ');
}

/** `10 min`, `90 s`: a length, which `10:00` after a word would not be. */
function waitOf(seconds: number): string {
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

export function retryText(retry: Retry): string {
  const { enabled, max_retries: times, retry_delay_seconds: delayS } = retry;
  if (!enabled || times === 0) return 'none';
  const reasons = [
    retry.retry_on_busy && 'busy',
    retry.retry_on_no_answer && 'no answer',
    retry.retry_on_voicemail && 'voicemail',
  ].filter((reason) => reason !== false);
  return `${times}, each ${waitOf(delayS)} later, on ${reasons.join(', ')}`;
}
