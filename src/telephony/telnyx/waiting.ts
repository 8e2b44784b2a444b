// Calls at Telnyx that wait for a place: answered without a stream, with words and audio that Telnyx plays; then sent to
// another number, or ended. Audio commands queue at Telnyx, so that the audio follows the words. Source:
// developers.telnyx.com, Call Control API v2: answer, speak, playback_start, playback_stop, transfer.

import { z } from 'zod';
import type { ForwardRequest, WaitRequest } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { dataOf, isCallGone, type TelnyxClient, type TelnyxRequest } from './client.ts';
import { command, RING_S, within } from './control.ts';
import { clientState, SILENCE_WHEN_IDLE } from './stream-settings.ts';

/** Voice and language of Telnyx for words without another choice. */
const VOICE = { voice: 'female', language: 'en-US' };

interface Sending {
  credentials: ProviderCredentials;
  signal: AbortSignal;
}

/** Answers the call; once it is answered, plays the announcement and then the audio, again and again. Without an
 *  announcement the audio goes on. */
export async function letWait(
  client: TelnyxClient,
  { runId, callId, isAnswered, announcement, waitingAudio, statusUrl }: WaitRequest,
  sending: Sending,
): Promise<void> {
  const state = { client_state: clientState(runId) };
  if (!isAnswered) {
    const body = {
      ...state,
      ...SILENCE_WHEN_IDLE,
      command_id: `wait-${callId}`,
      webhook_url: statusUrl,
      webhook_url_method: 'POST',
    };
    await run(client, command(callId, 'answer', body, 'wait'), sending);
    return;
  }
  if (announcement === undefined) return;
  await stopAudio(client, callId, sending);
  const { words, audio } = announcement;
  const said =
    audio === null
      ? command(callId, 'speak', { ...VOICE, ...state, payload: words }, 'announce')
      : command(callId, 'playback_start', { ...state, audio_url: audio }, 'announce');
  await run(client, said, sending);
  const played = { ...state, audio_url: waitingAudio, loop: 'infinity' };
  await run(client, command(callId, 'playback_start', played, 'play'), sending);
}

/** Ends the audio of a waiting call. */
export async function stopAudio(
  client: TelnyxClient,
  callId: string,
  { credentials, signal }: Sending,
): Promise<void> {
  // Telnyx refuses it for a call without audio.
  await client.send(credentials, command(callId, 'playback_stop', { stop: 'all' }), signal);
}

/** Connects the caller with another number, also before an answer. Telnyx keeps the caller's call if the destination does
 *  not answer: its report at `resultUrl` ends it. */
export async function forwardCall(
  client: TelnyxClient,
  { runId, callId, isAnswered, to, callerId: from, ringS, resultUrl }: ForwardRequest,
  sending: Sending,
): Promise<void> {
  if (isAnswered) await stopAudio(client, callId, sending);
  const body = {
    client_state: clientState(runId),
    to,
    from,
    timeout_secs: within(ringS, RING_S),
    webhook_url: resultUrl,
    webhook_url_method: 'POST',
  };
  await run(client, { ...command(callId, 'transfer', body), repeatable: false }, sending);
}

/** Speaks to the caller; the call is hung up later. */
export async function dismissCall(
  client: TelnyxClient,
  { callId, words }: { callId: string; words: string },
  sending: Sending,
): Promise<void> {
  await stopAudio(client, callId, sending);
  await run(client, command(callId, 'speak', { ...VOICE, payload: words }, 'dismiss'), sending);
}

async function run(
  client: TelnyxClient,
  wanted: TelnyxRequest,
  { credentials, signal }: Sending,
): Promise<void> {
  const answer = await client.send(credentials, wanted, signal);
  if (!isCallGone(answer)) dataOf(answer, wanted, z.unknown());
}
