// Every capture in fixtures/captures, through the parsers of its provider: what they made of the webhooks and media messages
// in the call, they make of them here. A capture whose name ends in `-simulated` is of a fake, the others of live accounts.

import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { hostedRow } from '../../fakes/hosted/hosted-rows.ts';
import { eventNameOf, linesOf, replay } from './replay.ts';

const FOLDER = 'fixtures/captures';
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.jsonl'));

it('there are captures', () => {
  expect(files).toContain('twilio-simulated.jsonl');
});

it.each(files)('%s is read as in its call', async (name) => {
  const lines = linesOf(readFileSync(`${FOLDER}/${name}`, 'utf8'));
  const [about] = lines;
  if (about?.kind !== 'capture') throw new Error('the first line says what it is');
  const { webhooks, media, callId } = await replay(lines, hostedRow(about.provider));
  expect(webhooks.length).toBeGreaterThan(0);
  expect(webhooks.map(({ event }) => eventNameOf(event))).toEqual(
    webhooks.map(({ recorded }) => recorded),
  );
  const isConnected = lines.some((line) => line.kind === 'step' && line.key === 'mark');
  if (isConnected)
    expect(media.map(({ type }) => type)).toEqual(expect.arrayContaining(['started', 'mark']));
  expect(callId).not.toBe('');
});
