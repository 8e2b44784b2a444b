// The far end of a load measurement, in a process of its own: starts inbound calls over the provider's
// webhook and media protocol, speaks into them at 20 ms pacing, prints what it saw as one line of JSON.

import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'undici';
import { LoadCall, type LoadCallResult } from './load-call.ts';

export interface LoadOptions {
  publicUrl: string;
  accountSid: string;
  authToken: string;
  to: string;
  calls: number;
  seconds: number;
  /** New calls a second while ramping up. */
  callsPerSecond: number;
  /** µ-law bytes that every caller repeats, each from an offset of its own. */
  speechFile: string;
}

const FRAME_BYTES = 160;
const FRAME_MS = 20;

/** X-Twilio-Signature over a URL and the fields of a form. */
function twilioSignature(
  authToken: string,
  url: string,
  form: ReadonlyMap<string, string>,
): string {
  const fields = [...form.keys()].sort().map((name) => `${name}${form.get(name) ?? ''}`);
  return createHmac('sha1', authToken)
    .update(url + fields.join(''))
    .digest('base64');
}

async function placeCall(options: LoadOptions, index: number): Promise<LoadCall> {
  const callSid = `CA${index.toString(16).padStart(32, '0')}`;
  const url = `${options.publicUrl}/api/v1/telephony/inbound/run`;
  const form = new Map([
    ['AccountSid', options.accountSid],
    ['ApiVersion', '2010-04-01'],
    ['CallSid', callSid],
    ['CallStatus', 'ringing'],
    ['Direction', 'inbound'],
    ['From', `+1555${String(index).padStart(7, '0')}`],
    ['To', options.to],
  ]);
  const reply = await request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': twilioSignature(options.authToken, url, form),
    },
    body: new URLSearchParams([...form]).toString(),
    signal: AbortSignal.timeout(30_000),
  });
  const markup = await reply.body.text();
  const media = /<Stream[^>]* url="([^"]+)"/.exec(markup)?.[1]?.replaceAll('&amp;', '&');
  if (media === undefined) throw new Error(`no media URL in the answer: ${markup.slice(0, 300)}`);
  return new LoadCall({
    url: media,
    signature: twilioSignature(options.authToken, media, new Map()),
    callSid,
    accountSid: options.accountSid,
    now: () => performance.now(),
  });
}

/** Each caller's 20 ms messages carry the same prepared frames from different places. */
function framesOf(file: string): string[] {
  const bytes = readFileSync(file);
  const frames: string[] = [];
  for (let at = 0; at + FRAME_BYTES <= bytes.length; at += FRAME_BYTES) {
    frames.push(bytes.subarray(at, at + FRAME_BYTES).toString('base64'));
  }
  return frames;
}

async function run(options: LoadOptions): Promise<void> {
  const frames = framesOf(options.speechFile);
  const calls: { call: LoadCall; frame: number; offset: number }[] = [];
  const startAt = performance.now();
  let ticks = 0;
  const tick = setInterval(() => {
    const due = Math.floor((performance.now() - startAt) / FRAME_MS);
    for (; ticks < due; ticks++) {
      for (const each of calls) {
        each.call.send(frames[(each.frame + each.offset) % frames.length] ?? '', each.frame);
        each.frame += 1;
      }
    }
  }, 5);
  const failures: string[] = [];
  for (let i = 0; i < options.calls; i++) {
    try {
      calls.push({ call: await placeCall(options, i), frame: 0, offset: (i * 37) % frames.length });
    } catch (error) {
      failures.push(error instanceof Error ? error.message : 'failed');
    }
    const dueMs = ((i + 1) * 1_000) / options.callsPerSecond - (performance.now() - startAt);
    if (dueMs > 0) await new Promise((resolve) => setTimeout(resolve, dueMs));
  }
  process.send?.({ ready: true });
  await new Promise((resolve) => setTimeout(resolve, options.seconds * 1_000));
  process.send?.({ measured: true });
  clearInterval(tick);
  for (const { call } of calls) call.hangUp();
  await Promise.race([
    Promise.all(calls.map(({ call }) => call.closed)),
    new Promise((resolve) => setTimeout(resolve, 10_000)),
  ]);
  process.send?.({
    result: summary(
      calls.map(({ call }) => call.result()),
      failures,
    ),
  });
  process.disconnect?.();
}

export interface LoadSummary {
  calls: number;
  failures: string[];
  framesReceived: number;
  latenessP50Ms: number;
  latenessP95Ms: number;
  latenessP99Ms: number;
  latenessMaxMs: number;
}

function summary(results: LoadCallResult[], failures: string[]): LoadSummary {
  const all = Float64Array.from(results.flatMap(({ lateness }) => [...lateness])).sort();
  const at = (share: number) => all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? 0;
  return {
    calls: results.length,
    failures: failures.slice(0, 5),
    framesReceived: results.reduce((sum, { framesReceived }) => sum + framesReceived, 0),
    latenessP50Ms: at(0.5),
    latenessP95Ms: at(0.95),
    latenessP99Ms: at(0.99),
    latenessMaxMs: all.at(-1) ?? 0,
  };
}

process.on('message', (options: LoadOptions) => {
  run(options).catch((error: unknown) => {
    process.send?.({ error: String(error) });
    process.disconnect?.();
  });
});
