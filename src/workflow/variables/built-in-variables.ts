// The built-in template variables: `current_time` and `current_weekday`, each with an optional IANA zone as in
// `current_time_Asia/Kolkata`. They have precedence over the context. Source: contract §5.6.

const BUILT_IN = /^current_(time|weekday)(?:_(.+))?$/;
const ZONE_DEFAULT = 'UTC';

export function isBuiltIn(path: string): boolean {
  return BUILT_IN.test(path);
}

/** The first zone in a text's paths: variables without a zone use it too. */
export function zoneInText(paths: readonly string[]): string {
  for (const path of paths) {
    const zone = BUILT_IN.exec(path)?.[2];
    if (zone !== undefined) return zone;
  }
  return ZONE_DEFAULT;
}

/** `2026-09-01 16:05:00 UTC` or `Thursday`. An unknown zone counts as UTC. */
export function builtInValue(path: string, now: number, zoneDefault: string): string {
  const [, kind, own] = BUILT_IN.exec(path) ?? [];
  const parts = partsAt(now, own ?? zoneDefault);
  if (kind === 'weekday') return parts['weekday'] ?? '';
  const { year, month, day, hour, minute, second, timeZoneName } = parts;
  return `${year}-${month}-${day} ${hour}:${minute}:${second} ${timeZoneName}`;
}

/** The parts of a time in a zone, as `Intl` names them. */
function partsAt(now: number, zone: string): Partial<Record<string, string>> {
  const parts = formatFor(zone).formatToParts(new Date(Number.isFinite(now) ? now : 0));
  return Object.fromEntries(parts.map(({ type, value }) => [type, value]));
}

function formatFor(zone: string): Intl.DateTimeFormat {
  const options = {
    weekday: 'long',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  } as const;
  try {
    return new Intl.DateTimeFormat('en-US', { ...options, timeZone: zone });
  } catch {
    // Not a zone of this machine; the call goes on without it.
    return new Intl.DateTimeFormat('en-US', { ...options, timeZone: ZONE_DEFAULT });
  }
}
