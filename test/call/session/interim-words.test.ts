import { describe, expect, it } from 'vitest';
import { InterimWords } from '../../../src/call/session/live-reports.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

function interim({ isWatched = true } = {}) {
  const clock = new FakeClock();
  const sent: unknown[] = [];
  const words = new InterimWords(clock, {
    isWatched: () => isWatched,
    emitLive: (_type, payload) => sent.push(payload?.['text']),
  });
  return { clock, sent, words };
}

describe('interim words', () => {
  it('are sent at once, then at most ten times a second, the newest last', () => {
    const { clock, sent, words } = interim();
    words.partial('I');
    for (const text of ['I want', 'I want to', 'I want to go']) {
      clock.advance(20);
      words.partial(text);
    }
    expect(sent).toEqual(['I']);
    clock.advance(40);
    expect(sent).toEqual(['I', 'I want to go']);
    clock.advance(1_000);
    words.partial('I want to go home');
    expect(sent.at(-1)).toBe('I want to go home');
    expect(clock.timers).toBe(0);
  });

  it('are not sent any more once they are final', () => {
    const { clock, sent, words } = interim();
    words.partial('yes');
    words.partial('yes please');
    words.drop();
    clock.advance(1_000);
    expect(sent).toEqual(['yes']);
    expect(clock.timers).toBe(0);
  });

  it('are at most 500 characters, whole words from the end', () => {
    const { sent, words } = interim();
    words.partial(`${'lorem ipsum '.repeat(100)}end`);
    const text = String(sent[0]);
    expect(text.length).toBeLessThanOrEqual(500);
    expect(text).toMatch(/^(lorem|ipsum) .*end$/);
  });

  it('are so without spaces between them too', () => {
    const { sent, words } = interim();
    words.partial(`${'我想预订明天的房间'.repeat(60)} 谢谢𠮷野家`);
    const text = String(sent[0]);
    expect(text).toMatch(/^(我想|预订|明天|的|房间).* 谢谢𠮷野家$/);
    expect(text.length).toBeGreaterThan(490);
    words.drop();
    words.partial(`𠮷${'a'.repeat(499)}`);
    expect(String(sent[1] ?? '')).not.toMatch(/^[\uDC00-\uDFFF]/);
  });

  it('use no timer without a watcher', () => {
    const { clock, sent, words } = interim({ isWatched: false });
    words.partial('yes');
    words.partial('yes please');
    expect([sent, clock.timers]).toEqual([[], 0]);
  });
});
