import { expect, it } from 'vitest';
import { pcmu } from '../../../src/codec/g711.ts';
import { FrameBatch } from '../../../src/pipeline/speak/frame-batch.ts';

function start(stepMs: number) {
  const sent: string[] = [];
  const wire = {
    audio: (payload: Uint8Array) => void sent.push(`${payload.length}:${payload[0]}`),
    mark: (name: string) => void sent.push(`mark ${name}`),
    clear: () => void sent.push('clear'),
    bufferedBytes: 7,
  };
  const batch = new FrameBatch({ wire, codec: pcmu, stepMs });
  return { sent, batch, frame: (byte: number) => batch.audio(new Uint8Array(160).fill(byte)) };
}

it('sends what comes at one moment in messages of the step', () => {
  const { sent, batch, frame } = start(60);
  for (const byte of [1, 2, 3, 4]) frame(byte);
  expect(sent).toEqual(['480:1']);
  batch.flush();
  batch.flush();
  expect(sent).toEqual(['480:1', '160:4']);
  expect(batch.bufferedBytes).toBe(7);
});

it('sends marks and clears behind the audio that came before them', () => {
  const { sent, batch, frame } = start(60);
  frame(1);
  batch.mark('a');
  frame(2);
  batch.clear();
  batch.clear();
  expect(sent).toEqual(['160:1', 'mark a', '160:2', 'clear', 'clear']);
});

it('sends frames one by one where a step is one, and what is longer than a step as it is', () => {
  const single = start(20);
  single.frame(1);
  single.frame(2);
  expect(single.sent).toEqual(['160:1', '160:2']);
  const { sent, batch, frame } = start(40);
  frame(1);
  batch.audio(new Uint8Array(800).fill(2));
  expect(sent).toEqual(['160:1', '800:2']);
});

it('keeps the audio of calls apart that gather at the same moment', () => {
  const one = start(60);
  const other = start(60);
  one.frame(1);
  other.frame(2);
  one.frame(3);
  one.batch.flush();
  other.batch.flush();
  expect(one.sent).toEqual(['160:1', '160:3']);
  expect(other.sent).toEqual(['160:2']);
});
