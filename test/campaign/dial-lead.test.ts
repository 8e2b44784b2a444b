import { expect, it } from 'vitest';
import { DialLead } from '../../src/campaign/dial-limits.ts';

it('is nothing where attempts begin at once', () => {
  const lead = new DialLead();
  for (let n = 0; n < 10; n++) lead.took(0);
  expect(lead.ms).toBe(0);
});

it('is twice what a beginning takes, at once, and half a second at most', () => {
  const lead = new DialLead();
  lead.took(100);
  expect(lead.ms).toBe(200);
  lead.took(5_000);
  expect(lead.ms).toBe(500);
});

it('falls slowly, so that a quick beginning between slow ones costs nothing', () => {
  const lead = new DialLead();
  lead.took(100);
  lead.took(0);
  expect(lead.ms).toBeCloseTo(190);
  for (let n = 0; n < 100; n++) lead.took(0);
  expect(lead.ms).toBeLessThan(2);
});
