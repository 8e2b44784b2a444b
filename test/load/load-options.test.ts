import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { helpText, readCommand } from './load-options.ts';

describe('the command line of the load tool', () => {
  it('has a default for everything', () => {
    expect(readCommand([])).toMatchObject({
      provider: 'twilio',
      scenario: 'talk',
      calls: 100,
      seconds: 60,
      ramp: [],
      runs: 1,
      'lead-ms': 80,
      'goal-ms': 10,
    });
  });

  it('prints --help, each option in one line with its default', () => {
    const lines = helpText().split('\n').slice(1);
    const defaults = Object.entries(readCommand([]));
    for (const [name, value] of defaults.filter(([each]) => each !== 'ramp')) {
      const [line, ...more] = lines.filter((each) => each.startsWith(`  --${name} `));
      expect(line).toMatch(new RegExp(`^  --[a-z-]+ +[A-Za-z].*; default: ${value}$`));
      expect(more).toEqual([]);
    }
    expect(helpText()).toMatch(/^ {2}--ramp +calls at a time/m);
    expect(helpText()).not.toContain('undefined');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(120);
  });

  it('takes the counts of a ramp in any order, or its own up to --calls', () => {
    expect(readCommand(['--ramp', '300,50,100,50']).ramp).toEqual([50, 100, 300]);
    expect(readCommand(['--ramp', 'auto', '--calls', '250']).ramp).toEqual([50, 100, 200, 250]);
    expect(readCommand(['--ramp', 'auto', '--calls', '20']).ramp).toEqual([20]);
  });

  it.each([
    [['--calls', '0'], /--calls/],
    [['--calls', 'many'], /--calls/],
    [['--scenario', 'sing'], /--scenario/],
    [['--provider', 'ari'], /--provider/],
    [['--provider', 'telnyx', '--webhook', 'http://gw/x'], /by Twilio's protocol alone/],
    [['--ramp', '50;100'], /--ramp/],
    [['--url', 'http://gw'], /--url needs --api-key/],
    [['--webhook', 'http://gw/x', '--to', '+1'], /--webhook needs/],
    [['--url', 'http://gw', '--api-key', 'k', '--webhook', 'http://gw/x'], /exclude/],
    [['--scenario', 'sequence', '--ramp', 'auto'], /a sequence has no ramp/],
    [['--consoles', '5', '--ramp', 'auto'], /--consoles measures one count/],
    [['--consoles', '5', '--webhook', 'http://gw/x'], /--consoles needs the gateway's API/],
    [['--attack', 'dns'], /--attack/],
    [['--attack', 'api', '--url', 'http://gw', '--api-key', 'k'], /--attack needs/],
    [['--attack', 'api', '--scenario', 'sequence'], /a sequence has no attack/],
    [['--services', 'fake', '--attack', 'api'], /exclude/],
    [['--kill', 'stt', '--scenario', 'sequence'], /--kill needs/],
    [['--kill', 'stt', '--services', 'fake'], /--kill needs/],
    [['--kill', 'stt,disk'], /--kill/],
    [['--services', 'fake', '--scenario', 'listen'], /scenario of its own/],
    [['--services', 'fake', '--url', 'http://gw', '--api-key', 'k'], /--services needs/],
    [['--outbound', 'faxes'], /--outbound/],
    [['--outbound', 'starts', '--outbound-per-second', '0'], /--outbound-per-second/],
    [['--outbound', 'starts', '--attack', 'api'], /exclude/],
    [['--outbound', 'dispatch', '--scenario', 'sequence'], /a sequence has no outbound/],
    [['--outbound', 'starts', '--url', 'http://gw', '--api-key', 'k'], /--outbound needs/],
    [['--engine', 'server', '--url', 'http://gw', '--api-key', 'k'], /--engine server needs/],
    [['--gateway-cores', '0;reboot'], /--gateway-cores/],
    [['--loud', '1'], /--loud/],
  ])('refuses %j', (args, reason) => {
    expect(() => readCommand(args)).toThrow(reason);
  });
});

it.each(['load/load', 'bench/bench', 'bench/compare'])(
  '%s --help measures nothing',
  async (name) => {
    const program = fileURLToPath(new URL(`../${name}.ts`, import.meta.url));
    const args = ['--import', 'tsx', program, '--help'];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 15_000 });
    expect(stdout).toMatch(/^npm run (load|bench|bench:compare)\b/);
  },
);
