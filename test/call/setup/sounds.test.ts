// Recorded clips and background noise in calls. Source: contract §5.3, §5.5, §5.6, §8.1, §8.3.

import { describe, expect, it } from 'vitest';
import { wavHeader } from '../../../src/audio/wav.ts';
import { hum } from '../../fakes/speech-services.ts';
import { definition, edge, end, start } from '../../workflow/definitions.ts';
import { type CallRoom, withCallRoom } from '../call-harness.ts';

const held = withCallRoom();

/** Two seconds. */
const SOUND = hum(2_000, 4_000);
const WELCOME = 'Welcome to the tea room.';

function wav(samples: Int16Array): Buffer {
  const header = wavHeader({ rateHz: 8_000, channels: 1, dataBytes: samples.byteLength });
  return Buffer.concat([header, Buffer.from(samples.buffer)]);
}

/** A clip of the library, sent and created; its row's id. */
async function clip(room: CallRoom, name: string, file: Buffer | null = wav(SOUND)) {
  const { store, owner } = room.at;
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
const faultsOf = async (room: CallRoom, run: { id: string }) =>
  (await room.bodies(run, 'fault')).map(({ code, fatal }) => [code, fatal]);

describe('a clip of the library', () => {
  it('greets the caller, and its transcript is what the run shows', async () => {
    const { room } = held;
    const id = await clip(room, 'welcome');
    await room.prepare(tea(audioGreeting(id)));
    const { stream, run } = await room.inboundCall();
    await room.heardOut(stream);
    stream.key('1');
    await room.heardOut(stream);
    const done = await room.ended(run);
    expect(await room.transcript(done)).toEqual([
      `assistant: ${WELCOME}`,
      'user: 1',
      'assistant: Goodbye.',
    ]);
    expect(room.tts.asked).toEqual(['Goodbye.']);
    const [greeting] = await room.bodies(run, 'agent.said');
    expect((greeting?.endMs ?? 0) - (greeting?.startMs ?? 0)).toBeCloseTo(2_000, -2);
    expect(await faultsOf(room, run)).toEqual([]);
  });

  it('that is interrupted leaves the words that were heard', async () => {
    const { room } = held;
    const id = await clip(room, 'welcome');
    await room.prepare(tea({ ...audioGreeting(id), allow_interrupt: true }));
    const { stream, run } = await room.inboundCall();
    await room.pass(1_000);
    stream.key('1');
    await room.heardOut(stream);
    await room.ended(run);
    const [greeting] = await room.bodies(run, 'agent.said');
    expect(greeting?.interrupted).toBe(true);
    expect(WELCOME.startsWith(greeting?.text ?? '-')).toBe(true);
    expect(greeting?.text.length).toBeLessThan(WELCOME.length);
  });

  it('whose file is gone is spoken, and the run says so', async () => {
    const { room } = held;
    const id = await clip(room, 'welcome', null);
    await room.prepare(tea(audioGreeting(id)));
    const { stream, run } = await room.inboundCall();
    await room.heardOut(stream);
    expect(room.tts.asked[0]).toBe(WELCOME);
    expect(await faultsOf(room, run)).toEqual([['CLIP_UNUSABLE', false]]);
  });

  it('of another organization, or deleted, gives way to the text', async () => {
    const { room } = held;
    const { store, owner } = room.at;
    const id = await clip(room, 'welcome');
    await store.clips.remove(owner.organizationId, 'welcome');
    await room.prepare(tea(audioGreeting(id)));
    const { stream, run } = await room.inboundCall();
    await room.heardOut(stream);
    expect(room.tts.asked[0]).toBe('Hello in text.');
    expect(await faultsOf(room, run)).toEqual([['CLIP_MISSING', false]]);
  });

  it('is played between two nodes', async () => {
    const { room } = held;
    await clip(room, 'moment');
    const line = { transition_speech_type: 'audio', transition_speech_recording_id: 'moment' };
    await room.prepare(tea({ say: 'Tea?' }, line));
    const { stream, run } = await room.inboundCall();
    await room.heardOut(stream);
    stream.key('1');
    await room.heardOut(stream);
    const done = await room.ended(run);
    expect(await room.transcript(done)).toEqual([
      'assistant: Tea?',
      'user: 1',
      `assistant: ${WELCOME}`,
      'assistant: Goodbye.',
    ]);
    expect(room.tts.asked).not.toContain(WELCOME);
  });

  it('takes the place of the greeting where the call asks for it', async () => {
    const { room } = held;
    await clip(room, 'special');
    await room.prepare(tea({ greeting: 'Hello in text.' }));
    const override = { type: 'audio', recording_id: 'special' };
    const { runId } = await room.start({ initialContext: { greeting_override: override } });
    const stream = await room.connect(await room.pickUp(runId));
    stream.start();
    await room.heardOut(stream);
    const [said] = await room.bodies({ id: runId }, 'agent.said');
    expect(said?.text).toBe(WELCOME);
    expect(room.tts.asked).toEqual([]);
  });
});

describe('sound files', () => {
  it('are decoded once for all calls, and again when they were sent again', async () => {
    const { room } = held;
    const { sounds } = room.deps;
    const { organizationId } = room.at.owner;
    const id = await clip(room, 'welcome');
    const load = async () => {
      const { samples } = await sounds.clips(organizationId, [{ by: 'name', value: 'welcome' }]);
      return samples(id);
    };
    const [one, two] = await Promise.all([load(), load()]);
    expect(one).toHaveLength(SOUND.length);
    expect(two).toBe(one);
    expect(await load()).toBe(one);
    const key = `recordings/${organizationId}/welcome/a.wav`;
    await room.at.store.files.write(key, wav(SOUND.subarray(0, 800).slice()));
    expect(await load()).toHaveLength(800);
  });

  it('may be asked for once more is known of the call', async () => {
    const { room } = held;
    const id = await clip(room, 'later');
    const clips = await room.deps.sounds.clips(room.at.owner.organizationId, []);
    const ref = { by: 'name', value: 'later' } as const;
    expect(clips.find(ref)).toBeUndefined();
    await clips.add([ref]);
    expect(clips.find(ref)?.id).toBe(id);
    expect(clips.samples(id)).toHaveLength(SOUND.length);
  });

  it('of more than ten minutes in one call are left out', async () => {
    const { room } = held;
    const { organizationId } = room.at.owner;
    const minute = wav(new Int16Array(60 * 8_000));
    const ids: string[] = [];
    for (let i = 0; i < 12; i++) ids.push(await clip(room, `long-${i}`, minute));
    const refs = ids.map((value) => ({ by: 'id', value }) as const);
    const { samples, find } = await room.deps.sounds.clips(organizationId, refs);
    expect(ids.filter((id) => samples(id) !== undefined)).toHaveLength(10);
    expect(refs.every((ref) => find(ref) !== undefined)).toBe(true);
  });

  it('that a call cannot have do not keep it from being answered', async () => {
    const { room } = held;
    const id = await clip(room, 'welcome');
    await room.prepare(tea(audioGreeting(id)));
    const { stat } = room.deps.files;
    let isAsked = false;
    room.deps.files.stat = () => {
      isAsked = true;
      return new Promise(() => undefined);
    };
    const answering = room.ring();
    await room.until(() => isAsked);
    room.clock.advance(3_000);
    room.deps.files.stat = stat;
    const stream = await room.connect(await answering);
    stream.start();
    await room.heardOut(stream);
    expect(room.tts.asked[0]).toBe(WELCOME);
  });
});

describe('background noise', () => {
  const settings = (more: object = {}) => ({
    ambient_noise_configuration: { enabled: true, volume: 0.5, ...more },
  });
  /** Samples that the caller heard. */
  function heard(room: CallRoom, stream: { farEnd: CallRoom['streams'][0]['farEnd'] }) {
    const pcm = new Int16Array(8 * 200);
    stream.farEnd.heard(room.clock.monotonicMs() - 300, pcm);
    return pcm;
  }

  it('is not there unless it is asked for', async () => {
    const { room } = held;
    await room.prepare(tea({ say: 'Tea?' }), settings({ enabled: false }));
    const { stream } = await room.inboundCall();
    await room.heardOut(stream);
    const { frames } = stream;
    await room.pass(1_000);
    expect(stream.frames).toBe(frames);
  });

  it('is built in', async () => {
    const { room } = held;
    await room.prepare(tea({ say: 'Tea?' }), settings());
    const { stream, run } = await room.inboundCall();
    await room.pass(5_000);
    expect(new Set(heard(room, stream)).size).toBeGreaterThan(20);
    expect(Math.max(...heard(room, stream))).toBeLessThan(2_500);
    expect(await faultsOf(room, run)).toEqual([]);
    stream.key('1');
    await room.passThrough(async () => (await room.run(run.id)).state === 'completed');
    expect((await room.ended(run)).disposition).toBe('user_qualified');
  });

  it('is the file of the agent, at its volume', async () => {
    const { room } = held;
    const key = `ambient_noise/${room.at.owner.organizationId}/1/a.wav`;
    await room.at.store.files.write(key, wav(new Int16Array(8_000).fill(2_000)));
    await room.prepare(tea({ say: 'Tea?' }), settings({ storage_key: key }));
    const { stream } = await room.inboundCall();
    await room.pass(5_000);
    // Not where the file begins again: there it fades into itself.
    const middle = heard(room, stream).sort()[800] ?? 0;
    expect(Math.abs(middle - 1_000)).toBeLessThan(32);
  });

  it.each(['ambient_noise/999999/1/a.wav', '../secret.key', 'ambient_noise/1'])(
    'of the file %s is the built-in one, and the run says so',
    async (key) => {
      const { room } = held;
      await room.prepare(tea({ say: 'Tea?' }), settings({ storage_key: key }));
      const { stream, run } = await room.inboundCall();
      await room.pass(2_000);
      expect(new Set(heard(room, stream)).size).toBeGreaterThan(20);
      expect(await faultsOf(room, run)).toEqual([['AMBIENT_NOISE_MISSING', false]]);
    },
  );
});
