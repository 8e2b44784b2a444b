// The state of a telephony configuration, with the reason of a bad one.

import type { Schema } from '../../api/client.ts';
import { formatTime } from '../../format.ts';
import { Badge } from '../../parts/notice.tsx';

type Configuration = Pick<
  Schema<'TelephonyConfigurationListItem'>,
  'inactive' | 'inactive_since' | 'inactive_reason' | 'is_default_outbound'
>;

/** `blockedReason`: why no call can go out over it; null if they can. */
export function ConfigurationState({
  configuration: { inactive, inactive_since: since, inactive_reason: reason, ...configuration },
  blockedReason,
}: {
  configuration: Configuration & { outbound_blocked_reason?: string | null };
  blockedReason?: string | null;
}) {
  const blocked = blockedReason ?? configuration.outbound_blocked_reason ?? null;
  return (
    <div className="configuration-state">
      {inactive ? (
        <Badge tone="bad">not connected</Badge>
      ) : (
        <Badge tone={blocked === null ? 'good' : 'warn'}>
          {blocked === null ? 'in use' : 'no outbound calls'}
        </Badge>
      )}{' '}
      {configuration.is_default_outbound && <Badge tone="info">default for outbound calls</Badge>}
      {inactive && (
        <p className="hint">
          {reason ?? 'No reason is known.'}
          {since !== null && ` Since ${formatTime(since)}.`}
        </p>
      )}
      {!inactive && blocked !== null && <p className="hint">{blocked}</p>}
    </div>
  );
}
