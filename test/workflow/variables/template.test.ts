import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placeholders, render } from '../../../src/workflow/variables/template.ts';
import { rounds } from '../../rounds.ts';

const now = Date.UTC(2026, 8, 3, 16, 5, 0); // A Thursday.

/** The contract's own expression, with spaces in names and without braces in them. */
const CONTRACT = /\{\{\s*([^|\s{}]+(?: +[^|\s{}]+)*)(?:\s*\|\s*([^:}]+)(?::([^}]+))?)?\s*\}\}/g;

describe('template variables', () => {
  const context = {
    name: 'Ana',
    empty: '',
    none: null,
    yes: true,
    no: false,
    price: 3.5,
    list: [1, 'a'],
    customer: { first: 'Bo', tags: ['x'] },
    gathered_context: { day: 'monday' },
  };
  it.each([
    ['Hello {{name}}', 'Hello Ana'],
    ['Hello {{ name }}!', 'Hello Ana!'],
    ['{{missing}}', ''],
    ['{{missing | friend}}', 'friend'],
    ['{{ missing | dear friend }}', 'dear friend'],
    ['{{missing | fallback:you there}}', 'you there'],
    ['{{first_name | fallback}}', 'First_Name'],
    ['{{missing | at 10:30}}', 'at 10:30'],
    ['{{empty | x}}{{none | y}}', 'xy'],
    ['{{name | x}}', 'Ana'],
    ['{{yes}} {{no | x}} {{price}}', 'True False 3.5'],
    ['{{list}} {{customer}}', '[1,"a"] {"first":"Bo","tags":["x"]}'],
    ['{{customer.first}} {{customer.tags.0}} {{list[1]}} {{customer.tags.1}}', 'Bo x a '],
    ['{{Name}} {{ NAME }} {{customer.First}} {{Initial_Context.name}}', 'Ana Ana Bo '],
    ['{{{name}}} {{{ name | x }}} {{{missing}}}.', 'Ana Ana .'],
    ['{"name":{{name}}} {{{name}} {{name}}}', '{"name":Ana} {Ana Ana}'],
    ['{{initial_context.name}}', 'Ana'],
    ['{{gathered_context.day}}', 'monday'],
    ['one\\ntwo', 'one\ntwo'],
    ['{{constructor}}{{__proto__}}{{name.length}}', ''],
    ['{{ }} {{a b}} {{a\nb}} {{a}', '{{ }}  {{a\nb}} {{a}'],
    ['{% if x %}', '{% if x %}'],
  ])('%s', (template, expected) => {
    expect(render(template, context, { now })).toBe(expected);
  });

  it.each([
    ['{{current_time}}', '2026-09-03 16:05:00 UTC'],
    ['{{current_weekday}}', 'Thursday'],
    ['{{current_time_Asia/Kolkata}}', '2026-09-03 21:35:00 GMT+5:30'],
    ['{{current_weekday_Pacific/Auckland}} {{current_weekday}}', 'Friday Friday'],
    ['{{current_time}} {{current_weekday_America/New_York}}', '2026-09-03 12:05:00 EDT Thursday'],
    ['{{current_time_Nowhere/Land}}', '2026-09-03 16:05:00 UTC'],
  ])('%s at a fixed moment', (template, expected) => {
    expect(render(template, { current_time: 'mine' }, { now })).toBe(expected);
  });

  it.each(['first name', 'First Name', 'first_name', 'FirstName', ' FIRST  NAME '])(
    'finds {{%s}} in every spelling of the name',
    (written) => {
      for (const key of ['first name', 'First Name', 'first_name', 'FIRST_NAME', 'firstName']) {
        expect(render(`{{${written}}}`, { [key]: 'Ana' }, { now }), key).toBe('Ana');
        expect(render(`{{${written} | x}}`, { other: 'Ana' }, { now })).toBe('x');
      }
    },
  );

  it('takes the name that is equal before one that is alike', () => {
    const both = { 'First Name': 'a', first_name: 'b' };
    expect(render('{{first_name}} {{First Name}} {{firstname}}', both, { now })).toBe('b a a');
  });

  it('finds exactly what the contract matches', () => {
    const alphabet = fc.constantFrom('{', '{{', '}', '}}', '|', ':', ' ', '\n', 'a', 'b.c', '\t');
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 24 }), (pieces) => {
        const text = pieces.join('');
        const expected = [...text.matchAll(CONTRACT)].map(({ index, 0: { length }, 1: path }) => {
          const isTriple = text[index - 1] === '{' && text[index + length] === '}';
          const beyond = isTriple ? 1 : 0;
          return { start: index - beyond, end: index + length + beyond, path };
        });
        const found = placeholders(text).map(({ start: from, end: to, path }) => ({
          start: from,
          end: to,
          path,
        }));
        expect(found).toEqual(expected);
      }),
      { numRuns: rounds(5_000) },
    );
  });

  it('renders any text in any context', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.object(), (template, given) => {
        expect(typeof render(template, given, { now })).toBe('string');
      }),
    );
  });

  it.each([
    ['braces', '{'],
    ['open placeholders', '{{a|'],
    ['fallbacks', '{{a|b:'],
    ['spaces', '{{ '],
  ])('needs no more than linear time for %s', (_what, piece) => {
    const hostile = piece.repeat(100_000);
    const began = performance.now();
    expect(placeholders(hostile)).toEqual([]);
    expect(performance.now() - began).toBeLessThan(1_000);
  });

  it('cuts what it renders at a limit', () => {
    const text = render('{{a}}'.repeat(100), { a: 'x'.repeat(50_000) }, { now });
    expect(text).toHaveLength(100_000);
  });
});
