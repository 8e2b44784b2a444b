// The dial request of a number: endpoint, formats, caller id, ring time. Source: asterisk §4.2, §4.4; contract §7.5,
// §13.2.

import type { AriAccount } from '../rest/config.ts';

export interface Dialled {
  channelId: string;
  to: string;
  /** Null: the caller id is the PBX's default. */
  callerId: string | null;
  ringS: number;
  /** Asterisk's name of the audio's format. Undefined: no formats are named, as beside an originator. */
  mediaFormat: string | undefined;
  /** Arguments of our application when the call is answered, separated by commas. */
  args: string;
  /** Whether the audio comes as a stream, without timestamps. */
  isStream: boolean;
}

/** First argument of our application for a call that we dialled; the dialplan's are others. */
const DIALLED = 'outbound';

export function dialArgs(runId: string): string {
  return `${DIALLED},${runId}`;
}

/** Whether a channel of ours enters our application by its answer. If not, the dialplan has sent it back. */
export function isDialled(args: readonly string[]): boolean {
  return args[0] === DIALLED;
}

/** The formats that every Asterisk has, best first for narrowband and for wideband audio. */
const NARROWBAND = ['ulaw', 'alaw', 'g722', 'slin16', 'slin'];
const WIDEBAND = ['g722', 'slin16', 'ulaw', 'alaw', 'slin'];

/** The query of `POST /channels`. */
export function dialQuery(
  account: AriAccount,
  dialled: Omit<Dialled, 'isStream'>,
): Record<string, string> {
  const { callerId, ringS } = dialled;
  return {
    ...createQuery(account, dialled),
    ...ringQuery(ringS),
    ...(callerId === null || callerId === '' ? {} : { callerId }),
  };
}

/** Variables of a channel whose audio comes as a stream: the PBX puts its packets in order, as the printed dialplan has
 *  it for inbound calls. Source: asterisk §2.5. */
export function jitterBufferOf({ isStream }: Pick<Dialled, 'isStream'>): Record<string, string> {
  return isStream ? Object.fromEntries([['JITTERBUFFER(adaptive)', 'default']]) : {};
}

/** The query of `POST /channels/create`, which accepts neither caller id nor ring time. */
export function createQuery(
  account: AriAccount,
  { channelId, to, mediaFormat, args }: Omit<Dialled, 'callerId' | 'ringS' | 'isStream'>,
): Record<string, string> {
  const endpoint = endpointOf(account.dial_template, to);
  const query = { endpoint, app: account.app, appArgs: args, channelId };
  return mediaFormat === undefined
    ? query
    : { ...query, formats: formatsOf(account, endpoint, mediaFormat) };
}

/** A Local channel is offered the media's format alone: of several Asterisk takes the best, and converts the audio twice
 *  on its way. Over SIP it offers all of them, followed by the endpoint's others. Without a list a Local channel gets
 *  linear audio of 192 kHz: half the volume, and six times the processor time. */
function formatsOf(
  { media_format: wanted }: AriAccount,
  endpoint: string,
  mediaFormat: string,
): string {
  if (/^Local\//i.test(endpoint)) return mediaFormat;
  const isWide = wanted === 'g722' || wanted === 'slin16';
  const known = isWide ? WIDEBAND : NARROWBAND;
  const first = wanted === 'auto' ? [] : [wanted];
  return [...new Set([...first, ...known])].join(',');
}

/** Ring time in seconds, as Asterisk's query has it. */
export function ringQuery(ringS: number): Record<string, string> {
  return Object.fromEntries([['timeout', String(Math.max(1, Math.round(ringS)))]]);
}

/** A template that dials through a trunk, which can dial a SIP address too. */
const THROUGH_TRUNK = /^PJSIP\/\{(?:number|e164)\}@(.+)$/;

/** `template` has `{number}` (digits, without a plus) or `{e164}` (with one): `PJSIP/{number}@trunk`. A number
 *  that already names a technology is used unchanged. */
function endpointOf(template: string, to: string): string {
  if (/^(PJSIP|SIP|IAX2|Local|DAHDI)\//i.test(to)) return to;
  const trunk = THROUGH_TRUNK.exec(template)?.[1];
  if (/^sips?:/i.test(to) && trunk !== undefined) return `PJSIP/${trunk}/${to}`;
  const number = to.replace(/^\+/, '');
  const e164 = /^\+/.test(to) ? to : `+${to}`;
  return template.replaceAll('{number}', () => number).replaceAll('{e164}', () => e164);
}
