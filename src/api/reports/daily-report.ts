// Report of a day's calls: the five most frequent dispositions and the rest, and durations. Source: contract §9.11.

import { transferDispositions } from '../../model/end-reason.ts';
import { type DayOfCalls, LENGTHS_S } from '../../store/runs/reports.ts';
import type { DailyReportOut } from './usage-schema.ts';

/** Dispositions with a line of their own. */
const SHOWN_MAX = 5;

type Distributions = Pick<
  DailyReportOut,
  'metrics' | 'disposition_distribution' | 'call_duration_distribution'
>;

export function dailyReportOf({ calls, dispositions, lengths }: DayOfCalls): Distributions {
  const percentage = (count: number): number =>
    calls === 0 ? 0 : Math.round((count / calls) * 10_000) / 100;
  const shown = dispositions.slice(0, SHOWN_MAX).map(({ disposition, calls: count }) => ({
    disposition,
    count,
    percentage: percentage(count),
  }));
  const other = calls - shown.reduce((sum, { count }) => sum + count, 0);
  const transferred = dispositions.filter(({ disposition }) =>
    transferDispositions.has(disposition),
  );
  return {
    metrics: {
      total_runs: calls,
      xfer_count: transferred.reduce((sum, each) => sum + each.calls, 0),
    },
    disposition_distribution:
      other === 0
        ? shown
        : [...shown, { disposition: 'Other', count: other, percentage: percentage(other) }],
    call_duration_distribution: lengths.map((count, i) => ({
      ...rangeOf(i),
      count,
      percentage: percentage(count),
    })),
  };
}

function rangeOf(i: number) {
  const start = LENGTHS_S[i - 1] ?? 0;
  const end = LENGTHS_S[i] ?? null;
  return {
    bucket: end === null ? `>${start}` : `${start}-${end}`,
    range_start: start,
    range_end: end,
  };
}
