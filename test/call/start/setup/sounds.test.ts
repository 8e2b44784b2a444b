// Recorded clips and background noise in calls. Source: contract §5.3, §5.5, §5.6, §8.1, §8.3.

import { describe, expect, it } from 'vitest';
import { wavHeader } from '../../../../src/audio/wav.ts';
import type { WebhookReply } from '../../../../src/telephony/provider/provider.ts';
import { hum } from '../../../fakes/speech-services.ts';
import { definition, edge, end, start } from '../../../workflow/definitions.ts';
import { type CallHarness, mediaUrlIn, pathOf, withCallHarness } from '../../call-harness.ts';

const held = withCallHarness();

/** Two seconds. */
const SOUND = hum(2_000, 4_000);
const WELCOME = 'Welcome to the tea room.';

function wav(samples: Int16Array): Buffer {
  const header = wavHeader({ rateHz: 8_000, channels: 1, dataBytes: samples.byteLength });
  return Buffer.concat([header, Buffer.from(samples.buffer)]);
}

/** A clip of the library, sent and created; its row's id. */
async function clip(harness: CallHarness, name: string, file: Buffer | null = wav(SOUND)) {
  const { store, owner } = harness.at;
  const storageKey = `recordings/${owner.organizationId}/${name}/a.wav`;
  if (file !== null) await store.files.write(storageKey, file);
  const voice = { ttsProvider: null, ttsModel: null, ttsVoiceId: null };
  const facts = { name, transcript: WELCOME, storageKey, workflowId: null, metadata: {}, ...voice };
  const [made] = await store.clips.create(owner, [facts]);
  return made?.id ?? '';
}

const tea = (opening: object, line: object = {}) =>
  definition(
    [start('ask', { ...opening }), end('tea', { say: 'Goodbye.' })],
    [edge('ask', 'tea', { label: 'Tea', phrases: ['tea'], dtmf: '1', ...line })],
  );

const audioGreeting = (id: string) => ({
  greeting_type: 'audio',
  greeting_recording_id: id,
  greeting: 'Hello in text.',
});
const faultsOf = async (harness: CallHarness, run: { id: string }) =>
  (await harness.bodies(run, 'fault')).map(({ code, fatal }) => [code, fatal]);

describe('a clip of the library', () => {
  it('greets the caller, and its transcript is what the run shows', async () => {
    const { harness } = held;
    const id = await clip(harness, 'welcome');
    await harness.prepare(tea(audioGreeting(id)));
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    stream.key('1');
    await harness.heardOut(stream);
    const done = await harness.ended(run);
    expect(await harness.transcript(done)).toEqual([
      `assistant: ${WELCOME}`,
      'user: 1',
      'assistant: Goodbye.',
    ]);
    expect(harness.tts.asked).toEqual(['Goodbye.']);
    const [greeting] = await harness.bodies(run, 'agent.said');
    expect((greeting?.endMs ?? 0) - (greeting?.startMs ?? 0)).toBeCloseTo(2_000, -2);
    expect(await faultsOf(harness, run)).toEqual([]);
  });

  it('that is interrupted leaves the words that were heard', async () => {
    const { harness } = held;
    const id = await clip(harness, 'welcome');
    await harness.prepare(tea({ ...audioGreeting(id), allow_interrupt: true }));
    const { stream, run } = await harness.inboundCall();
    await harness.pass(1_000);
    stream.key('1');
    await harness.heardOut(stream);
    await harness.ended(run);
    const [greeting] = await harness.bodies(run, 'agent.said');
    expect(greeting?.interrupted).toBe(true);
    expect(WELCOME.startsWith(greeting?.text ?? '-')).toBe(true);
    expect(greeting?.text.length).toBeLessThan(WELCOME.length);
  });

  it('whose file is gone is spoken, and the run says so', async () => {
    const { harness } = held;
    const id = await clip(harness, 'welcome', null);
    await harness.prepare(tea(audioGreeting(id)));
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    expect(harness.tts.asked[0]).toBe(WELCOME);
    expect(await faultsOf(harness, run)).toEqual([['CLIP_UNUSABLE', false]]);
  });

  it('of another organization, or deleted, gives way to the text', async () => {
    const { harness } = held;
    const { store, owner } = harness.at;
    const id = await clip(harness, 'welcome');
    await store.clips.remove(owner.organizationId, 'welcome');
    await harness.prepare(tea(audioGreeting(id)));
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    expect(harness.tts.asked[0]).toBe('Hello in text.');
    expect(await faultsOf(harness, run)).toEqual([['CLIP_MISSING', false]]);
  });

  it('is played between two nodes', async () => {
    const { harness } = held;
    await clip(harness, 'moment');
    const line = { transition_speech_type: 'audio', transition_speech_recording_id: 'moment' };
    await harness.prepare(tea({ say: 'Tea?' }, line));
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    stream.key('1');
    await harness.heardOut(stream);
    const done = await harness.ended(run);
    expect(await harness.transcript(done)).toEqual([
      'assistant: Tea?',
      'user: 1',
      `assistant: ${WELCOME}`,
      'assistant: Goodbye.',
    ]);
    expect(harness.tts.asked).not.toContain(WELCOME);
  });

  it('takes the place of the greeting where the call asks for it', async () => {
    const { harness } = held;
    await clip(harness, 'special');
    await harness.prepare(tea({ greeting: 'Hello in text.' }));
    const override = { type: 'audio', recording_id: 'special' };
    const { runId } = await harness.start({ initialContext: { greeting_override: override } });
    const stream = await harness.connect(await harness.pickUp(runId));
    stream.start();
    await harness.heardOut(stream);
    const [said] = await harness.bodies({ id: runId }, 'agent.said');
    expect(said?.text).toBe(WELCOME);
    expect(harness.tts.asked).toEqual([]);
  });
});

describe('sound files', () => {
  it('are decoded once for all calls, and again when they were sent again', async () => {
    const { harness } = held;
    const { sounds } = harness.deps;
    const { organizationId } = harness.at.owner;
    const id = await clip(harness, 'welcome');
    const load = async () => {
      const { samples } = await sounds.clips(organizationId, [{ by: 'name', value: 'welcome' }]);
      return samples(id);
    };
    const [one, two] = await Promise.all([load(), load()]);
    expect(one).toHaveLength(SOUND.length);
    expect(two).toBe(one);
    expect(await load()).toBe(one);
    const key = `recordings/${organizationId}/welcome/a.wav`;
    await harness.at.store.files.write(key, wav(SOUND.subarray(0, 800).slice()));
    expect(await load()).toHaveLength(800);
  });

  it('may be asked for once more is known of the call', async () => {
    const { harness } = held;
    const id = await clip(harness, 'later');
    const clips = await harness.deps.sounds.clips(harness.at.owner.organizationId, []);
    const ref = { by: 'name', value: 'later' } as const;
    expect(clips.find(ref)).toBeUndefined();
    await clips.add([ref]);
    expect(clips.find(ref)?.id).toBe(id);
    expect(clips.samples(id)).toHaveLength(SOUND.length);
  });

  it('of more than ten minutes in one call are left out', async () => {
    const { harness } = held;
    const { organizationId } = harness.at.owner;
    const minute = wav(new Int16Array(60 * 8_000));
    const ids: string[] = [];
    for (let i = 0; i < 12; i++) ids.push(await clip(harness, `long-${i}`, minute));
    const refs = ids.map((value) => ({ by: 'id', value }) as const);
    const { samples, find } = await harness.deps.sounds.clips(organizationId, refs);
    expect(ids.filter((id) => samples(id) !== undefined)).toHaveLength(10);
    expect(refs.every((ref) => find(ref) !== undefined)).toBe(true);
  });

  it('that a call cannot have do not keep it from being answered', async () => {
    const { harness } = held;
    const id = await clip(harness, 'welcome');
    await harness.prepare(tea(audioGreeting(id)));
    const { stat } = harness.deps.files;
    let isAsked = false;
    harness.deps.files.stat = () => {
      isAsked = true;
      return new Promise(() => undefined);
    };
    const answering = harness.ring();
    await harness.until(() => isAsked);
    harness.clock.advance(3_000);
    harness.deps.files.stat = stat;
    const stream = await harness.connect(await answering);
    stream.start();
    await harness.heardOut(stream);
    expect(harness.tts.asked[0]).toBe(WELCOME);
  });
});

describe('a clip whose row the database gives late', () => {
  const onlyClip = (id: string) => tea({ greeting_type: 'audio', greeting_recording_id: id });

  it('greets the first call, which waits for it', async () => {
    const { harness } = held;
    await harness.prepare(onlyClip(await clip(harness, 'welcome')));
    const { clips } = harness.at.store;
    let answer: (() => void) | undefined;
    clips.find = async (...asked) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      Reflect.deleteProperty(clips, 'find');
      return clips.find(...asked);
    };
    const answering = harness.ring();
    await harness.until(() => answer !== undefined);
    let isAnswered = false;
    void answering.then(() => {
      isAnswered = true;
    });
    await harness.pass(7_000);
    expect(isAnswered).toBe(false);
    answer?.();
    await greetedBy(await answering);
  });

  it('greets the later ones as before', async () => {
    const { harness } = held;
    await harness.prepare(onlyClip(await clip(harness, 'welcome')));
    await harness.inboundCall();
    const { clips } = harness.at.store;
    let isAsked = false;
    clips.find = () => {
      isAsked = true;
      return new Promise(() => undefined);
    };
    const answering = harness.ring('CallSid=CA2');
    await harness.until(() => isAsked);
    harness.clock.advance(3_000);
    await greetedBy(await answering, 'CA2');
    Reflect.deleteProperty(clips, 'find');
  });

  async function greetedBy(reply: WebhookReply, callId?: string): Promise<void> {
    const { harness } = held;
    const url = mediaUrlIn(reply);
    const stream = await harness.connectTo(url, callId === undefined ? {} : { callId });
    stream.start();
    await harness.heardOut(stream);
    const run = await harness.run(pathOf(url).runId);
    expect((await harness.bodies(run, 'agent.said'))[0]?.text).toBe(WELCOME);
    expect(await faultsOf(harness, run)).toEqual([]);
    expect(harness.tts.asked).toEqual([]);
  }
});

describe('background noise', () => {
  const settings = (more: object = {}) => ({
    ambient_noise_configuration: { enabled: true, volume: 0.5, ...more },
  });
  /** Samples that the caller heard. */
  function heard(harness: CallHarness, stream: { farEnd: CallHarness['streams'][0]['farEnd'] }) {
    const pcm = new Int16Array(8 * 200);
    stream.farEnd.heard(harness.clock.monotonicMs() - 300, pcm);
    return pcm;
  }

  it('is not there unless it is asked for', async () => {
    const { harness } = held;
    await harness.prepare(tea({ say: 'Tea?' }), settings({ enabled: false }));
    const { stream } = await harness.inboundCall();
    await harness.heardOut(stream);
    const { frames } = stream;
    await harness.pass(1_000);
    expect(stream.frames).toBe(frames);
  });

  it('is built in', async () => {
    const { harness } = held;
    await harness.prepare(tea({ say: 'Tea?' }), settings());
    const { stream, run } = await harness.inboundCall();
    await harness.pass(5_000);
    expect(new Set(heard(harness, stream)).size).toBeGreaterThan(20);
    expect(Math.max(...heard(harness, stream))).toBeLessThan(2_500);
    expect(await faultsOf(harness, run)).toEqual([]);
    stream.key('1');
    await harness.passThrough(async () => (await harness.run(run.id)).state === 'completed');
    expect((await harness.ended(run)).disposition).toBe('user_qualified');
  });

  it('is the file of the agent, at its volume', async () => {
    const { harness } = held;
    const key = `ambient_noise/${harness.at.owner.organizationId}/1/a.wav`;
    await harness.at.store.files.write(key, wav(new Int16Array(8_000).fill(2_000)));
    await harness.prepare(tea({ say: 'Tea?' }), settings({ storage_key: key }));
    const { stream } = await harness.inboundCall();
    await harness.pass(5_000);
    // Not where the file begins again: there it fades into itself.
    const middle = heard(harness, stream).sort()[800] ?? 0;
    expect(Math.abs(middle - 1_000)).toBeLessThan(32);
  });

  it.each(['ambient_noise/999999/1/a.wav', '../secret.key', 'ambient_noise/1'])(
    'of the file %s is the built-in one, and the run says so',
    async (key) => {
      const { harness } = held;
      await harness.prepare(tea({ say: 'Tea?' }), settings({ storage_key: key }));
      const { stream, run } = await harness.inboundCall();
      await harness.pass(2_000);
      expect(new Set(heard(harness, stream)).size).toBeGreaterThan(20);
      expect(await faultsOf(harness, run)).toEqual([['AMBIENT_NOISE_MISSING', false]]);
    },
  );
});
