// What the parts of a test call share: what they use, keys, and how a fault is reported.

import type { LineFaultCode } from '../../../model/line-fault.ts';
import { type LineSettings, type LineTest, MESSAGE_MAX } from '../../../model/line-watch.ts';
import type { MediaChoice } from '../media/transport-selection.ts';
import type { CheckContext } from './check.ts';
import type { MediaParts } from './media-loop.ts';
import type { TestApplication } from './test-application.ts';

/** Length of a key, and the pause after it, in milliseconds: as calls send them. */
const KEY_TIMES = [
  ['duration', '120'],
  ['between', '80'],
] as const;

export interface LineCallMeans {
  context: CheckContext;
  testApp: TestApplication;
  parts: MediaParts;
  choice: MediaChoice;
  line: LineSettings;
  signal: AbortSignal;
}

export function failed(fault: LineFaultCode, message: string): LineTest {
  const unmeasured = { delayMs: null, lossShare: null, codec: null };
  return { fault, message: message.slice(0, MESSAGE_MAX), ...unmeasured };
}

export async function sendKeys(
  { peer }: Pick<TestApplication, 'peer'>,
  channelId: string,
  { digits, signal }: { digits: string; signal: AbortSignal },
): Promise<void> {
  const path = `channels/${encodeURIComponent(channelId)}/dtmf`;
  const query = Object.fromEntries([['dtmf', digits], ...KEY_TIMES]);
  await peer.client.run({ action: 'digits', method: 'POST', path, query }, signal);
}
