import { describe, expect, it } from 'vitest';
import { dtmfTones } from '../../../src/audio/tones/tone-generator.ts';
import { InBandDtmf } from '../../../src/pipeline/receive/in-band-dtmf.ts';
import { CallRig } from '../call-rig.ts';

const MENU = {
  closed: true,
  phrases: [],
  slots: [],
  boost: [],
  digits: { countMax: 4, terminator: '#' as const },
};

/** What an ear hears of tones from `atMs` on. */
function hear(ear: InBandDtmf, digits: string, atMs: number): void {
  const pcm = dtmfTones(digits);
  for (let at = 0; at < pcm.length; at += 160) {
    ear.push(pcm.subarray(at, at + 160), atMs + at / 8);
  }
}

function listen() {
  const keys: string[] = [];
  return { keys, ear: new InBandDtmf((key) => keys.push(key)) };
}

describe('on a line without signalled keys', () => {
  it('those in the caller’s audio are the same as signalled ones', async () => {
    const rig = new CallRig({ detectsInBandDtmf: true });
    rig.audio.expect(MENU);
    await rig.plays(dtmfTones('12#'));
    expect(rig.news.filter(({ type }) => type === 'digit')).toMatchObject([
      { digit: '1' },
      { digit: '2' },
      { digit: '#' },
    ]);
    expect(rig.turns).toEqual(['12']);
  });

  it('a key stops the agent', async () => {
    const rig = new CallRig({ detectsInBandDtmf: true });
    rig.say('This is a long sentence that takes the agent quite some time to say in full.');
    await rig.run(1_000);
    await rig.plays(dtmfTones('5'));
    expect(rig.kinds).toContain('interruption');
  });

  it('one that is signalled after all counts once, and signals count from then on', async () => {
    const rig = new CallRig({ detectsInBandDtmf: true });
    rig.audio.expect(MENU);
    await rig.plays(dtmfTones('11'));
    rig.audio.digit('1');
    rig.audio.digit('1');
    await rig.plays(dtmfTones('2'));
    rig.audio.digit('2');
    rig.audio.digit('#');
    expect(rig.turns).toEqual(['112']);
  });

  it('the tones that we send are not detected when they come back', async () => {
    const rig = new CallRig({ detectsInBandDtmf: true });
    rig.audio.press('58');
    await rig.run(100);
    await rig.plays(dtmfTones('58'));
    await rig.run(1_500);
    expect(rig.kinds).not.toContain('digit');
    await rig.plays(dtmfTones('9'));
    expect(rig.kinds).toContain('digit');
  });

  it('nothing is detected on a line without tones', async () => {
    const rig = new CallRig({ detectsInBandDtmf: true, isInputMuted: true });
    await rig.plays(dtmfTones('5'));
    expect(rig.kinds).toEqual([]);
  });
});

it('where keys are signalled none is detected in the audio', async () => {
  const rig = new CallRig();
  await rig.plays(dtmfTones('5'));
  expect(rig.kinds).not.toContain('digit');
});

describe('the in-band detector', () => {
  it('ignores the signal of a key that it has reported, however fast the next follows', () => {
    const { ear, keys } = listen();
    hear(ear, '77', 0);
    expect(keys).toEqual(['7', '7']);
    expect(ear.noteSignalled('7', 410)).toBe(false);
    expect(ear.noteSignalled('7', 420)).toBe(false);
    expect(ear.noteSignalled('7', 900)).toBe(true);
  });

  it('takes a signal that comes first, and does not report the tone of that key', () => {
    const { ear, keys } = listen();
    expect(ear.noteSignalled('7', 10)).toBe(true);
    hear(ear, '7', 20);
    expect(keys).toEqual([]);
  });

  it('takes the same key pressed again, three seconds later', () => {
    const { ear } = listen();
    hear(ear, '7', 0);
    expect(ear.noteSignalled('7', 3_100)).toBe(true);
  });

  it('takes another key than the detected one', () => {
    const { ear } = listen();
    hear(ear, '7', 0);
    expect(ear.noteSignalled('8', 300)).toBe(true);
  });

  it('does not join tones across a gap of the media', () => {
    const { ear, keys } = listen();
    const pcm = dtmfTones('4').subarray(160, 320);
    ear.push(pcm, 0);
    ear.push(pcm, 1_000);
    ear.push(pcm, 2_000);
    expect(keys).toEqual([]);
  });

  it('ignores the echo of tones that we send', () => {
    const { ear, keys } = listen();
    ear.ignoreUntil(500);
    hear(ear, '12', 0);
    hear(ear, '3', 500);
    expect(keys).toEqual(['3']);
  });
});
