import { expect, it } from 'vitest';
import { adaptDialect, dialectOf } from '../../../../src/speech/llm/client/dialect.ts';

const rules = { optional: [['temperature', /\btemperature\b/]] as const };

it('keeps what a server refused for the next client of the same account', () => {
  const dialect = dialectOf('http://a.example', 'm', 'key');
  expect(adaptDialect(dialect, 'no temperature here', rules)).toBe(true);
  expect(adaptDialect(dialect, 'no temperature here', rules)).toBe(false);
  expect(dialectOf('http://a.example', 'm', 'key').without).toEqual(new Set(['temperature']));
});

it('changes no request of another account, model or server', () => {
  adaptDialect(dialectOf('http://b.example', 'm', 'key'), 'no temperature here', rules);
  const others = [
    dialectOf('http://b.example', 'm', 'other key'),
    dialectOf('http://b.example', 'n', 'key'),
    dialectOf('http://c.example', 'm', 'key'),
  ];
  expect(others.map(({ without }) => without.size)).toEqual([0, 0, 0]);
});
