import { expect, it } from 'vitest';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import { createLog } from '../../src/log.ts';
import { terminalLine } from '../../src/std/terminal-lines.ts';

function shown(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  const output = { write: (line: string) => void lines.push(terminalLine(line)) };
  write(createLog({ level: 'info', pii: false }, output));
  return lines.join('').replace(/^\d\d:\d\d:\d\d/gm, 'TIME');
}

it('has time, level, text and fields in one line', () => {
  const fields = { run: 5, statement: '\n  select\u001b[2J 1', parts: ['a'] };
  expect(shown((log) => log.warn(fields, 'slow'))).toBe(
    'TIME warn slow run=5 statement= select [2J 1 parts=["a"]\n',
  );
});

it('has the code and the text of an error', () => {
  const err = new GatewayError('STORE_UNAVAILABLE');
  expect(shown((log) => log.error({ err }, 'not stored'))).toBe(
    'TIME error not stored (STORE_UNAVAILABLE: The database does not answer)\n',
  );
});

it('cuts a long field, and passes on what is no JSON', () => {
  expect(shown((log) => log.info({ a: 'x'.repeat(300) }, 'b')).length).toBeLessThan(230);
  expect(terminalLine('words\n')).toBe('words\n');
});

it('keeps personal data and secrets out, as the log does', () => {
  const fields = { 'pii.text': 'SAID', auth_token: 'SECRET' };
  expect(shown((log) => log.warn(fields, 'turn'))).not.toMatch(/SAID|SECRET/);
});
