// Rows: a call in, a call out, sound levels, keys in both directions.

import { readWav } from '../../../src/audio/wav.ts';
import { download, type RunDetail } from '../../demo/api-client.ts';
import { EXTENSIONS } from '../agents.ts';
import { OUT_CONTEXT } from '../asterisk-side.ts';
import { meanDbfs, type RtpEnd, soundOf } from '../rtp-end.ts';
import { DIRECT, type Stage } from '../stage.ts';
import { pause, until } from '../waiting.ts';
import { check, decibel, millis, type Row } from './row.ts';

const SOUND_MS_MAX = 10_000;
const END_MS_MAX = 20_000;
const KEYS = '42#';
const LEVEL_DB_MAX = 0.5;
/** A level is measured over this much of the tone. */
const LEVEL_MS = 2_000;

/** Waits for the agent's tone; since when it sounds. */
export async function hearTone(rtp: RtpEnd, sinceMs: number, ms = 200): Promise<number> {
  await until('the agent is heard', SOUND_MS_MAX, () => rtp.totalMs('tone', sinceMs) >= ms);
  return rtp.firstMs('tone', sinceMs) ?? sinceMs;
}

/** Ends a call of an agent by its key. */
export async function finish(
  { rtp, released }: { rtp: RtpEnd; released: (msMax: number) => Promise<void> },
  key = '1',
): Promise<void> {
  rtp.press(key);
  await released(END_MS_MAX);
}

const inbound: Row = {
  feature: 'inbound call',
  async run(stage) {
    const caller = await stage.callIn(EXTENSIONS.short);
    const calledMs = performance.now();
    await caller.answered();
    const heardMs = await hearTone(caller.rtp, calledMs);
    const runId = await stage.lastRunId(stage.agents.short);
    await finish({ rtp: caller.rtp, released: (msMax) => caller.released(msMax) });
    const run = await stage.completed(stage.agents.short, runId);
    check(run.disposition === 'user_qualified', `its disposition is ${run.disposition}`);
    return `heard ${millis(heardMs - calledMs)} after the INVITE`;
  },
};

/** The call of a telephone whose only codec this Asterisk cannot convert. */
const opus: Row = {
  feature: 'inbound call, Opus alone',
  async run(stage) {
    if (await stage.pbx.hasModule('codec_opus.so')) return 'not tried: codec_opus.so is loaded';
    const { short } = stage.agents;
    const caller = await stage.callInWithOpus(EXTENSIONS.short);
    const status = await caller.refused();
    check(status === 488, `refused with ${status}`);
    const run = await stage.completed(short, await stage.lastRunId(short));
    const reason = String(run.gathered_context?.['error'] ?? '');
    check(reason.includes('codec_opus.so'), `the run says: ${reason}`);
    return `refused with ${status}: ${reason}`;
  },
};

const outbound: Row = {
  feature: 'outbound call',
  async run(stage) {
    const { short } = stage.agents;
    const callee = await stage.callee('answers');
    const startedMs = performance.now();
    const runId = await stage.api.startCall(short.uuid, { phone_number: callee.number });
    await callee.invited();
    const heardMs = await hearTone(callee.rtp, startedMs);
    await finish({ rtp: callee.rtp, released: (msMax) => callee.released(msMax) });
    const run = await stage.completed(short, runId);
    check(run.disposition === 'user_qualified', `its disposition is ${run.disposition}`);
    return `heard ${millis(heardMs - startedMs)} after the request`;
  },
};

const keys: Row = {
  feature: 'keys both ways',
  async run(stage) {
    const { short } = stage.agents;
    const caller = await stage.callIn(EXTENSIONS.short);
    await caller.answered();
    await hearTone(caller.rtp, 0);
    const runId = await stage.lastRunId(short);
    await stage.api.sendDigits(short.id, runId, KEYS);
    await until('the keys reach the telephone', SOUND_MS_MAX, () => caller.rtp.digits.length >= 3);
    check(caller.rtp.digits === KEYS, `the telephone received ${caller.rtp.digits}, not ${KEYS}`);
    await finish({ rtp: caller.rtp, released: (msMax) => caller.released(msMax) });
    await stage.completed(short, runId);
    return `${KEYS} out, 1 in`;
  },
};

/** Two telephones without the gateway: what arrives of the tone. */
async function directDbfs(stage: Stage): Promise<number> {
  const callee = await stage.callee('answers');
  const caller = await stage.callIn(callee.number.slice(1));
  await callee.invited();
  await caller.answered();
  caller.rtp.play(true);
  await until('the tone arrives', SOUND_MS_MAX, () => callee.rtp.totalMs('tone', 0) >= LEVEL_MS);
  await caller.close();
  return callee.rtp.toneDbfs(0);
}

interface Levels {
  /** The agent's tone at the telephone. */
  outDbfs: number;
  /** The telephone's tone in the recording. */
  inDbfs: number;
}

async function dialledLevels(stage: Stage, template: string): Promise<Levels> {
  const { short } = stage.agents;
  await stage.api.updateConfiguration(stage.configurationId, { dial_template: template });
  const callee = await stage.callee('answers');
  const runId = await stage.api.startCall(short.uuid, { phone_number: callee.number });
  await callee.invited();
  const released = (msMax: number) => callee.released(msMax);
  return await levelsOf(stage, { rtp: callee.rtp, released, runId });
}

async function inboundLevels(stage: Stage): Promise<Levels> {
  const caller = await stage.callIn(EXTENSIONS.short);
  await caller.answered();
  await hearTone(caller.rtp, 0);
  const runId = await stage.lastRunId(stage.agents.short);
  const released = (msMax: number) => caller.released(msMax);
  return await levelsOf(stage, { rtp: caller.rtp, released, runId });
}

async function levelsOf(
  stage: Stage,
  call: { rtp: RtpEnd; released: (msMax: number) => Promise<void>; runId: string },
): Promise<Levels> {
  await hearTone(call.rtp, 0, LEVEL_MS);
  const outDbfs = call.rtp.toneDbfs(0);
  // The agent listens once its clip is over.
  await until('the agent has finished', SOUND_MS_MAX, () => isSilent(call.rtp));
  call.rtp.play(true);
  await pause(LEVEL_MS);
  call.rtp.play(false);
  await finish(call);
  const run = await stage.completed(stage.agents.short, call.runId);
  return { outDbfs, inDbfs: await recordedDbfs(run) };
}

const isSilent = ({ heard }: RtpEnd): boolean =>
  heard.slice(-5).every(({ sound }) => sound === 'silence') ||
  (heard.at(-1)?.atMs ?? 0) < performance.now() - 100;

/** Level of the tone in the caller's channel of the recording. */
async function recordedDbfs(run: RunDetail): Promise<number> {
  const frames = callerFrames(await download(run.recording_url ?? ''));
  const tones = frames.map(soundOf).filter(({ sound }) => sound === 'tone');
  check(tones.length > 0, 'the recording has nothing of the telephone');
  // The first and the last frame of the tone are not whole.
  return meanDbfs(tones.slice(2, -2).map(({ levelDbfs }) => levelDbfs));
}

/** 20 ms each. */
export function callerFrames(file: Buffer): Int16Array[] {
  const { samples, channels, rateHz } = readWav(file);
  const length = rateHz / 50;
  const frames: Int16Array[] = [];
  for (let at = 0; at + length * channels <= samples.length; at += length * channels) {
    frames.push(Int16Array.from({ length }, (_, nth) => samples[at + nth * channels] ?? 0));
  }
  return frames;
}

const level: Row = {
  feature: 'audio both ways, level',
  async run(stage) {
    const direct = await directDbfs(stage);
    const ways = {
      inbound: await inboundLevels(stage),
      PJSIP: await dialledLevels(stage, DIRECT),
      'Local/': await dialledLevels(stage, `Local/{number}@${OUT_CONTEXT}/n`),
    };
    await stage.api.updateConfiguration(stage.configurationId, { dial_template: DIRECT });
    const rows = Object.entries(ways).map(([name, { outDbfs, inDbfs }]) => {
      const text = `${name} ${decibel(outDbfs - direct)} out, ${decibel(inDbfs - direct)} in`;
      const isLevel = [outDbfs, inDbfs].every((each) => Math.abs(each - direct) <= LEVEL_DB_MAX);
      return { text, isLevel };
    });
    const text = rows.map((row) => row.text).join('; ');
    check(
      rows.every((row) => row.isLevel),
      text,
    );
    return text;
  },
};

export const conversations: readonly Row[] = [inbound, opus, outbound, level, keys];
