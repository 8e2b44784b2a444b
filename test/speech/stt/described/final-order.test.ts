// Finals out of their order, from a service that is described as data: words come once, and in the order of their times
// where they come together.

import { afterEach, describe, expect, it } from 'vitest';
import { sttServices } from '../../../../src/model/speech-services/services.ts';
import { FixedTimes } from '../../../../src/speech/stt/described/described-recognizer.ts';
import { createSttService } from '../../../../src/speech/vendors/stt-registry.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import { type SttSession, startSttServer } from '../../../fakes/services/stt-server.ts';
import { RecognizerRig } from '../recognizer-rig.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

type Word = readonly [word: string, start: number, end: number];

const description = {
  audio: { format: 'ulaw8' },
  results: [
    {
      when: [{ path: 'final', equals: true }],
      is: 'final',
      text: 'text',
      words: { list: 'words', word: '0', start: '1', end: '2' },
    },
    { when: [{ path: 'final', equals: false }], is: 'partial', text: 'text' },
  ],
  finalize: { message: { type: 'flush' }, answer: [{ path: 'done', equals: true }] },
};

const result = (isFinal: boolean, ...words: Word[]) => ({
  final: isFinal,
  words,
  text: words.map(([word]) => word).join(' '),
});

/** `onFlush`: what the service says when it is asked for the final words. */
async function connect(onFlush: (session: SttSession) => void) {
  const clock = new FakeClock();
  const server = await startSttServer(
    { clock, key: '' },
    {
      check: () => undefined,
      open: (session) => ({
        audio: () => undefined,
        message: () => onFlush(session),
        expired: () => undefined,
      }),
    },
  );
  const settings = sttServices.websocket_stt.parse({
    provider: 'websocket_stt',
    base_url: server.url,
    description,
  });
  const rig = new RecognizerRig(clock, createSttService(settings, serviceMeans(clock)));
  opened.push(server, rig.recognizer);
  await settle();
  return { rig, server };
}

describe('finals of one answer', () => {
  it('are joined in the order of their times, each word once', async () => {
    const { rig } = await connect((session) => {
      session.send(result(true, ['w3', 0.6, 0.8]));
      session.send(result(true, ['w1', 0.1, 0.2], ['w2', 0.3, 0.5]));
      session.send(result(true, ['w3', 0.6, 0.8]));
      session.send({ done: true });
    });
    await rig.turn('w1 w2 w3');
    await rig.silence(100);
    expect(rig.finals.map(({ text }) => text)).toEqual(['w1 w2 w3']);
    expect(rig.finals[0]?.words?.map(({ startMs }) => startMs)).toEqual([100, 300, 600]);
  });
});

describe('a final that is overdue', () => {
  it('does not come again behind that of the next turn', async () => {
    let asked = 0;
    const { rig } = await connect((session) => {
      asked += 1;
      if (asked === 1) {
        session.send(result(false, ['w1', 0.1, 0.2]));
        return;
      }
      session.send(result(true, ['w2', 2.6, 2.8]));
      session.send(result(true, ['w1', 0.1, 0.2]));
      session.send({ done: true });
    });
    await rig.turn('w1');
    await rig.silence(2_000);
    expect(rig.text).toBe('w1');
    await rig.turn('w2');
    await rig.silence(100);
    expect([rig.text, rig.errors]).toEqual(['w1 w2', []]);
  });
});

describe('a final without times that is overdue', () => {
  it.each([
    ['i want it', 'I want it.'],
    ['好的我要房间', '好的，我要房间。'],
  ])('does not come again where %s has become %s', async (interim, final) => {
    let late = (): void => undefined;
    const { rig } = await connect((session) => {
      session.send({ final: false, text: interim });
      late = () => session.send({ final: true, text: final });
    });
    await rig.turn('w1');
    await rig.silence(2_000);
    expect(rig.text).toBe(interim);
    late();
    await rig.silence(100);
    expect([rig.text, rig.errors]).toEqual([interim, []]);
  });
});

describe('times of fixed words', () => {
  const word = (startMs: number, endMs: number) => ({ word: 'w', startMs, endMs });

  it('are new behind all finals and between two of them, and within none', () => {
    const fixed = new FixedTimes();
    fixed.add([word(1_000, 1_200), word(1_300, 1_400)]);
    fixed.add([word(2_000, 2_200)]);
    const isNew = (startMs: number) => fixed.isNew(word(startMs, startMs + 50));
    expect([0, 1_050, 1_230, 1_500, 2_000, 2_300].map(isNew)).toEqual([
      ...[true, false, false, true, false, true],
    ]);
  });

  it('are not new before what has gone out without a final, but behind all finals', () => {
    const fixed = new FixedTimes();
    fixed.close(500);
    expect(fixed.isNew(word(100, 200))).toBe(true);
    fixed.add([word(600, 700)]);
    expect(fixed.isNew(word(100, 200))).toBe(false);
    expect(fixed.isNew(word(520, 560))).toBe(true);
  });

  it('are kept of the last 20 finals: nothing before the others is new', () => {
    const fixed = new FixedTimes();
    for (let nth = 1; nth <= 21; nth++) fixed.add([word(nth * 1_000, nth * 1_000 + 100)]);
    expect([500, 1_500].map((at) => fixed.isNew(word(at, at + 50)))).toEqual([false, true]);
  });
});
