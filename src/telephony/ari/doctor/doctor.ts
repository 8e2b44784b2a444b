// The doctor of an Asterisk: runs its checks in the order of their dependencies, and reports the calls that were
// refused because no number of the configuration matches the dialled one.

import { type CheckSubject, fail, pass, skip, warn } from '../../provider/check.ts';
import type { Finding } from '../../provider/pbx.ts';
import { type MediaChoice, selectMediaTransport } from '../media/transport-selection.ts';
import { mediaFinding } from './audio-check.ts';
import { type CheckContext, check } from './check.ts';
import { examineLink, incomingLink } from './connection-checks.ts';
import { dialplanFindings } from './dialplan-checks.ts';
import type { MediaParts } from './media-loop.ts';
import {
  applicationFinding,
  clientFinding,
  modulesFinding,
  versionFinding,
} from './system-checks.ts';
import {
  EventsUnavailable,
  openTestApplication,
  type TestApplication,
  testOnConnection,
} from './test-application.ts';

const EVENTS = { key: 'events', title: 'Events', msMax: 8_000 };
const MEDIA: CheckSubject = { key: 'media', title: 'Audio' };

/** Examines one configuration's Asterisk. Removes everything that it creates there before it settles. Never rejects. */
export async function examineAri(context: CheckContext, parts: MediaParts): Promise<Finding[]> {
  const isIncoming = context.account.connection === 'incoming';
  const link = isIncoming ? incomingLink(context) : await examineLink(context);
  const { version } = link;
  if (version === undefined) return link.findings;
  const findings = [...link.findings, versionFinding(context.account, version)];
  const choice = await chosen(context, { version, parts }, findings);
  if (choice === undefined) return findings;
  findings.push(await modulesFinding(context, choice), await applicationFinding(context));
  const client = choice.way === 'websocket_client' ? await clientFinding(context) : undefined;
  if (client !== undefined) findings.push(client);
  const testApp = await bedFor(context, version, findings);
  if (testApp === undefined) return findings;
  try {
    // A server that accepts the connection and does not answer blocks the whole PBX: asterisk §0.2.
    const isRisky = client?.verdict === 'fail';
    findings.push(
      isRisky
        ? { ...MEDIA, ...skip('Not checked: correct websocket_client.conf first.') }
        : await mediaFinding(context, { testApp, parts, choice }),
    );
    findings.push(
      ...(await dialplanFindings(context, testApp, choice.way)),
      ...refusedFindings(context),
    );
  } finally {
    await testApp.close();
  }
  return findings;
}

/** Adds a finding if the media transport is not available. */
async function chosen(
  context: CheckContext,
  { version, parts }: { version: string; parts: MediaParts },
  findings: Finding[],
): Promise<MediaChoice | undefined> {
  let choice: MediaChoice | undefined;
  const finding = await check(context, { ...MEDIA, msMax: 1_000 }, () => {
    choice = selectMediaTransport(
      context.account,
      version,
      parts.transports.audiosocket !== undefined,
    );
    return Promise.resolve(pass(choice.way));
  });
  if (choice === undefined)
    findings.push({ ...finding, advice: 'Set media to auto, or update Asterisk.' });
  return choice;
}

/** The doctor's test application; adds a finding if events do not arrive. */
async function bedFor(
  context: CheckContext,
  version: string,
  findings: Finding[],
): Promise<TestApplication | undefined> {
  const { live, account } = context;
  if (account.connection === 'incoming') {
    return live === undefined ? undefined : testOnConnection(context, live);
  }
  let testApp: TestApplication | undefined;
  const events = await check(context, EVENTS, async (signal) => {
    try {
      testApp = await openTestApplication(context, version, signal);
      return pass('The events come over a websocket.');
    } catch (error) {
      if (!(error instanceof EventsUnavailable)) throw error;
      return fail(
        `The websocket of events does not open: ${error.fault.message}`,
        'A proxy before Asterisk must pass websockets on (Upgrade and Connection headers) at /ari/events; module load res_ari_events.so and res_http_websocket.so.',
      );
    }
  });
  findings.push(events);
  if (testApp === undefined)
    findings.push({ ...MEDIA, ...skip('Not checked: correct the events first.') });
  return testApp;
}

/** Refused numbers that the finding names; the rest are counted. */
const NAMED_MAX = 5;

/** One finding for the refused calls; none if no such call came since the connection was made. */
function refusedFindings({ live }: Pick<CheckContext, 'live'>): Finding[] {
  const noted = live?.unconfigured.list() ?? [];
  if (noted.length === 0) return [];
  const named = noted.slice(0, NAMED_MAX).map(({ dialled, nearest, calls, lastAt }) => {
    const times = calls === 1 ? 'one call' : `${calls} calls, the last`;
    const yours = nearest === null ? '' : `; you have ${nearest}`;
    return `${dialled} (${times} at ${new Date(lastAt).toISOString()}${yours})`;
  });
  const rest = noted.length - named.length;
  const message = `Refused, because no active number is like the dialled one: ${named.join(', ')}${rest > 0 ? `, and ${rest} more` : ''}.`;
  const advice =
    'Add the number as the trunk sends it, or let the dialplan send the stored one to Stasis.';
  return [{ key: 'refused', title: 'Refused calls', ...warn(message, advice) }];
}
