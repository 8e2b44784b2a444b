import { describe, expect, it } from 'vitest';
import { readCommand } from './load-options.ts';

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

  it('takes the counts of a ramp in any order, or its own up to --calls', () => {
    expect(readCommand(['--ramp', '300,50,100,50']).ramp).toEqual([50, 100, 300]);
    expect(readCommand(['--ramp', 'auto', '--calls', '250']).ramp).toEqual([50, 100, 200, 250]);
    expect(readCommand(['--ramp', 'auto', '--calls', '20']).ramp).toEqual([20]);
  });

  it.each([
    [['--calls', '0'], /--calls/],
    [['--calls', 'many'], /--calls/],
    [['--scenario', 'sing'], /--scenario/],
    [['--provider', 'telnyx'], /--provider/],
    [['--ramp', '50;100'], /--ramp/],
    [['--url', 'http://gw'], /--url needs --api-key/],
    [['--webhook', 'http://gw/x', '--to', '+1'], /--webhook needs/],
    [['--url', 'http://gw', '--api-key', 'k', '--webhook', 'http://gw/x'], /exclude/],
    [['--scenario', 'sequence', '--ramp', 'auto'], /a sequence has no ramp/],
    [['--gateway-cores', '0;reboot'], /--gateway-cores/],
    [['--loud', '1'], /--loud/],
  ])('refuses %j', (args, reason) => {
    expect(() => readCommand(args)).toThrow(reason);
  });
});
