// Whether Asterisk can convert a telephone's audio to that of the media channel. A call that offers a codec without its
// module, such as Opus alone, is answered and bridged, and carries no audio: "No path to translate" is in Asterisk's log
// alone. Source: asterisk §4.4.

import { z } from 'zod';
import { GatewayError } from '../../../errors/gateway-error.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import type { AriContext } from '../rest/peer.ts';

/** Longest check. The call is not held up by a PBX that does not answer. */
const CHECK_MS_MAX = 2_000;

/** Formats whose codec may be missing, with the beginning of its module's name: there are several of some. All other
 *  formats count as known. */
const MODULES: readonly [format: RegExp, module: string][] = [
  [/^opus$/, 'codec_opus'],
  [/^g729$/, 'codec_g729'],
  [/^g723$/, 'codec_g723'],
  [/^g719$/, 'codec_g719'],
  [/^g726(aal2)?$/, 'codec_g726'],
  [/^silk\d*$/, 'codec_silk'],
  [/^siren7$/, 'codec_siren7'],
  [/^siren14$/, 'codec_siren14'],
  [/^speex\d*$/, 'codec_speex'],
  [/^ilbc$/, 'codec_ilbc'],
  [/^codec2$/, 'codec_codec2'],
  [/^gsm$/, 'codec_gsm'],
];
/** A module for cards that convert some formats. */
const CARDS = 'codec_dahdi';

const variable = z.looseObject({ value: z.string() });
const modules = z.array(z.looseObject({ name: z.string(), status: z.string().catch('') }));

/** PBX_CODEC if Asterisk cannot convert any format of the channel; undefined if it can, or if that is not known. Never
 *  rejects. */
export async function codecFault(
  peer: Pick<AriContext, 'client' | 'clock' | 'log'>,
  channelId: string,
  over: AbortSignal,
): Promise<GatewayError | undefined> {
  const deadline = deadlineSignal(peer.clock, CHECK_MS_MAX, 'look at the codecs', over);
  try {
    return await look(peer, channelId, deadline.signal);
  } catch (error) {
    peer.log.debug({ err: error }, 'codecs of a channel not looked up');
    return undefined;
  } finally {
    deadline.done();
  }
}

async function look(
  { client }: Pick<AriContext, 'client'>,
  channelId: string,
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  const path = `channels/${encodeURIComponent(channelId)}/variable`;
  const query = { variable: 'CHANNEL(audionativeformat)' };
  const request = { action: 'look', method: 'GET', path, query } as const;
  const { status, body } = await client.send(request, signal);
  const value = status === 200 ? (variable.safeParse(body).data?.value ?? '') : '';
  const formats = value.match(/[\w.]+/g) ?? [];
  const wanted = formats.map(moduleOf);
  if (wanted.length === 0 || wanted.includes(undefined)) return undefined;
  const list = { action: 'modules', method: 'GET', path: 'asterisk/modules' } as const;
  const loaded = (await client.get(list, modules, signal)).filter(
    ({ status }) => status !== 'Not Running',
  );
  const isLoaded = loaded.some(({ name }) =>
    [...wanted, CARDS].some((module) => module !== undefined && name.startsWith(module)),
  );
  if (isLoaded) return undefined;
  return new GatewayError('PBX_CODEC', {
    formats: formats.join(', '),
    modules: wanted.map((module) => `${module}.so`).join(', '),
  });
}

function moduleOf(format: string): string | undefined {
  return MODULES.find(([pattern]) => pattern.test(format))?.[1];
}
