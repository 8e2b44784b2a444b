import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { ShareNames } from '../../../src/api/admission/admission.ts';

/** What is read of a request. */
function requestOf(headers: Record<string, string>, organizationId?: string): FastifyRequest {
  const principal = organizationId === undefined ? null : { organizationId };
  return { headers, principal, ip: '2001:db8::1' } as unknown as FastifyRequest;
}

describe('the share that a request takes', () => {
  it('is its address’s, until its key has been checked once', () => {
    const names = new ShareNames();
    const first = requestOf({ 'x-api-key': 'k' });
    expect(names.nameOf(first)).toBe('address 2001:db8:0:0');
    names.learn(requestOf({ 'x-api-key': 'k' }, '7'));
    expect(names.nameOf(first)).toBe('organization 7');
    expect(names.nameOf(requestOf({ authorization: 'k' }))).toBe('organization 7');
    expect(names.nameOf(requestOf({ 'x-api-key': 'other' }))).toBe('address 2001:db8:0:0');
  });

  it('is its address’s again once its key was refused', () => {
    const names = new ShareNames();
    names.learn(requestOf({ 'x-api-key': 'k' }, '7'));
    names.learn(requestOf({ 'x-api-key': 'k' }));
    expect(names.nameOf(requestOf({ 'x-api-key': 'k' }))).toBe('address 2001:db8:0:0');
  });

  it('removes the least recently used key beyond 10,000', () => {
    const names = new ShareNames();
    for (let key = 0; key < 10_000; key++) names.learn(requestOf({ 'x-api-key': `${key}` }, '7'));
    names.learn(requestOf({ 'x-api-key': '0' }, '7'));
    names.learn(requestOf({ 'x-api-key': 'new' }, '7'));
    expect(names.nameOf(requestOf({ 'x-api-key': '0' }))).toBe('organization 7');
    expect(names.nameOf(requestOf({ 'x-api-key': '1' }))).toBe('address 2001:db8:0:0');
  });
});
