import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { buildGrammar, type Grammar, RULES } from '../../../../src/speech/stt/pocketsphinx/jsgf.ts';
import { SLOTS } from './slots.ts';

const all = { has: (_word: string) => true };
const phrasesOf = (phrases: string[], dictionary = all) =>
  buildGrammar({ ...OPEN_SPEECH, closed: true, phrases }, { dictionary });

/** What the last rule accepts as phrases. */
function said(grammar: Grammar | undefined): string[] {
  const last = grammar?.text.trim().split('\n').at(-1) ?? '';
  return last.replace(/^public <utterance> = |;$/g, '').split(' | ');
}

/** Whether a JSGF reader takes it: header, rules of words, references, groups, all defined. */
function isValid({ text }: Grammar): boolean {
  const [header, name, ...rules] = text.trimEnd().split('\n');
  if (header !== '#JSGF V1.0;' || !/^grammar \w+;$/.test(name ?? '')) return false;
  const defined = new Set(rules.map((rule) => /^(?:public )?<(\w+)> = /.exec(rule)?.[1]));
  return rules.every((rule) => {
    const expansion = /^(?:public )?<\w+> = (.+);$/.exec(rule)?.[1] ?? '';
    const used = [...expansion.matchAll(/<(\w+)>/g)].map((match) => match[1]);
    let plain = expansion.replace(/<\w+>/g, 'x').replace(/[a-z][a-z'._]*/g, 'x');
    for (let before = ''; before !== plain; ) {
      before = plain;
      plain = plain
        .replace(/\((x)\)|\[(x)\]/g, 'x')
        .replace(/x\+/g, 'x')
        .replace(/x x/g, 'x')
        .replace(/x \| x(?! x|\+)/g, 'x');
    }
    return plain === 'x' && used.every((each) => defined.has(each));
  });
}

describe('grammar of an expectation', () => {
  it('takes phrases and slots alike, each phrase once, in an order of its own', () => {
    const first = phrasesOf(['Sales', 'support!', 'sales']);
    expect(said(first.grammar)).toEqual(['sales', 'support']);
    expect(phrasesOf(['support', 'sales']).grammar).toEqual(first.grammar);
  });

  it('has the phrases of other steps beside its own, as rivals', () => {
    const expectation = { ...OPEN_SPEECH, phrases: ['sales'], elsewhere: ['support', 'sales'] };
    const { grammar } = buildGrammar(expectation, { dictionary: all });
    expect(grammar?.rivals).toEqual(['support']);
    expect(grammar?.text).toContain('/1/ sales | /0.002/ support');
  });

  it('is none when nothing is expected', () => {
    expect(buildGrammar(OPEN_SPEECH, { dictionary: all })).toEqual({
      grammar: undefined,
      warnings: [],
    });
  });

  it('understands what is closed in an open expectation', () => {
    const expectation = { ...OPEN_SPEECH, phrases: ['help'], slots: ['yes_no' as const] };
    const { grammar } = buildGrammar(expectation, { dictionary: all });
    expect(said(grammar)).toEqual(['<slot_yes_no>', 'help']);
  });

  it.each([
    ['Room 24, please', 'room twenty four please'],
    ['Code 0815', 'code zero eight one five'],
    ['café', 'cafe'],
    ["I'd like a refund.", "i'd like a refund"],
    ['Sales & Support', 'sales and support'],
    ['e-mail', 'e mail'],
    ['the ‘blue’ one', 'the blue one'],
  ])('says %j as %j', (phrase, words) => {
    expect(said(phrasesOf([phrase]).grammar)).toEqual([words]);
  });

  it('leaves out a phrase with a word that cannot be said, and says which', () => {
    const dictionary = { has: (word: string) => word !== 'xyzzyx' };
    const { grammar, warnings } = phrasesOf(['sales', 'call xyzzyx'], dictionary);
    expect(said(grammar)).toEqual(['sales']);
    expect(warnings).toEqual([{ phrase: 'call xyzzyx', reason: 'unknown word', word: 'xyzzyx' }]);
  });

  it('spells an abbreviation that is no word', () => {
    const dictionary = { has: (word: string) => word.length !== 3 && !word.includes('.') };
    expect(said(phrasesOf(['my dsl', 'the u.s.a.'], dictionary).grammar)).toEqual(['my d s l']);
    expect(said(phrasesOf(['p.t.o.'], { has: (word) => word.length === 1 }).grammar)).toEqual([
      'p t o',
    ]);
  });

  it('warns of empty, endless and too many phrases', () => {
    const many = Array.from({ length: 600 }, (_, i) => `word${'a'.repeat(i % 26)} ${i}`);
    const reasons = phrasesOf(['', '?!', 'a '.repeat(31), 'a'.repeat(501), ...many]).warnings;
    expect(reasons.map(({ reason }) => reason)).toEqual([
      'empty',
      'empty',
      'too long',
      'too long',
      'too many phrases',
    ]);
  });

  it.each(SLOTS)('has a valid grammar for %s with all its rules and words', (slot) => {
    const { grammar } = buildGrammar({ ...OPEN_SPEECH, slots: [slot] }, { dictionary: all });
    expect(grammar && isValid(grammar)).toBe(true);
    expect(grammar?.words.length).toBeGreaterThan(2);
    expect(grammar?.words.filter((word) => word.includes('_'))).toEqual([]);
  });

  it('has no rule that refers to none', () => {
    const used = Object.values(RULES).flatMap((rule) => rule.match(/(?<=<)\w+(?=>)/g) ?? []);
    expect(used.filter((name) => !(name in RULES))).toEqual([]);
  });

  it('is valid whatever the phrases are', () => {
    const nasty = fc.constantFrom(
      '<x>',
      ';',
      '|',
      "''",
      "'",
      '.',
      '...',
      'a.b.c',
      '/0.1/',
      '{tag}',
      '\\',
      '"',
      '*',
      '+',
      'é',
      '１',
    );
    const part = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), nasty);
    const phrase = fc.oneof(
      part,
      fc.array(part).map((parts) => parts.join(' ')),
    );
    fc.assert(
      fc.property(fc.array(phrase), fc.subarray(SLOTS), fc.boolean(), (phrases, slots, known) => {
        const expectation = { ...OPEN_SPEECH, phrases, slots };
        const { grammar } = buildGrammar(expectation, { dictionary: { has: () => known } });
        if (grammar === undefined) return;
        expect(isValid(grammar)).toBe(true);
        for (const word of grammar.words) expect(word).toMatch(/^[a-z][a-z'.]*$/);
      }),
    );
  }, 90_000);
});
