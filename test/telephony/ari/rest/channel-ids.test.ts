import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/std/random.ts';
import { createChannelIds, createTag } from '../../../../src/telephony/ari/rest/channel-ids.ts';

const ids = createChannelIds('patchbay_0123456789ab', systemRandom);
const others = createChannelIds('patchbay_ba9876543210', systemRandom);

describe('ids of channels and bridges', () => {
  it('are of one length and never begin like another: Asterisk would take them for the same', () => {
    const made = [ids.outbound('1'), ids.outbound('12'), ids.outbound('9223372036854775807')];
    for (const kind of ['m', 't', 'b'] as const) made.push(ids.make(kind), ids.make(kind));
    expect(new Set(made.map(({ length }) => length))).toEqual(new Set([46]));
    expect(new Set(made).size).toBe(made.length);
  });

  it('name their run and their kind', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }), (run) => {
        const id = ids.outbound(String(run));
        expect(ids.runOf(id)).toBe(String(run));
        expect(ids.kindOf(id)).toBe('o');
      }),
    );
    for (const kind of ['m', 't', 'b'] as const) {
      const id = ids.make(kind);
      expect(ids.kindOf(id)).toBe(kind);
      expect(ids.runOf(id)).toBeUndefined();
    }
  });

  it('name the process that made them', () => {
    const tag = createTag(systemRandom);
    const own = createChannelIds('patchbay_0123456789ab', systemRandom, tag);
    const made = [own.outbound('12'), own.make('m'), own.make('t'), own.make('b')];
    expect(made.map((id) => ids.tagOf(id))).toEqual([tag, tag, tag, tag]);
    expect(ids.tagOf(ids.make('m'))).not.toBe(tag);
    expect(ids.tagOf('1795200436.103')).toBeUndefined();
  });

  it('belong to one application only', () => {
    expect(others.kindOf(ids.make('m'))).toBeUndefined();
    expect(others.runOf(ids.outbound('5'))).toBeUndefined();
  });

  it('are not found in what others give their channels', () => {
    for (const id of [
      '',
      '1795200436.103',
      'media-1',
      `${ids.make('m')}0`,
      ids.make('m').toUpperCase(),
    ]) {
      expect(ids.kindOf(id)).toBeUndefined();
    }
    fc.assert(fc.property(fc.string(), (id) => ids.kindOf(id) === undefined));
  });
});
