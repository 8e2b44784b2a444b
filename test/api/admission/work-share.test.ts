// Whose share a request's statements take at the database.

import type { FastifyRequest } from 'fastify';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { RequestAdmission } from '../../../src/api/admission/admission.ts';
import { currentShare, organizationShare } from '../../../src/std/work-share.ts';
import { withApi } from '../served.ts';

describe("a request's share", () => {
  const served = withApi();
  let seen: (string | undefined)[];

  beforeEach(() => {
    seen = [];
    vi.restoreAllMocks();
    const { accounts, workflows, reports } = served.deps.store;
    const { callService } = served;
    noteShare(workflows, 'count');
    noteShare(accounts, 'createApiKey');
    noteShare(accounts, 'authenticate');
    noteShare(reports, 'variables');
    noteShare(reports, 'rows');
    noteShare(callService, 'inbound');
  });

  /** It works as before, and says whose work it is. */
  function noteShare<Name extends string>(
    of: Record<Name, (...from: never[]) => unknown>,
    name: Name,
  ): void {
    const before = of[name].bind(of);
    vi.spyOn(of as Record<string, (...from: never[]) => unknown>, name).mockImplementation(
      (...from) => {
        seen.push(currentShare()?.name);
        return before(...from);
      },
    );
  }

  const own = (): string => organizationShare(served.test.owner.organizationId).name;
  const Address = 'address 127.0.0.1';

  it("is its address's until its key is known, then its organization's", async () => {
    await served.ok('GET', '/workflow/count');
    expect(seen).toEqual([Address, own()]);
    await served.ok('GET', '/workflow/count');
    expect(seen.slice(2)).toEqual([own(), own()]);
  });

  it("is its organization's after its body has come", async () => {
    await served.ok('POST', '/user/api-keys', { name: 'another' });
    expect(seen).toEqual([Address, own()]);
  });

  it("is another organization's for another key", async () => {
    const { apiKey: key, organizationId } = await served.stranger();
    seen = [];
    await served.call('GET', '/api/v1/workflow/count', { key });
    expect(seen.at(-1)).toBe(organizationShare(organizationId).name);
  });

  it('lasts while a report is made from its pages', async () => {
    await served.call('GET', '/api/v1/organizations/usage/runs/report');
    expect(seen.slice(1)).toEqual([own(), own()]);
  });

  it('is one for the webhooks of each address, beside that of its other requests', async () => {
    // Webhooks of all senders had one share: a flood of unsigned ones stood before those of providers.
    const admission = new RequestAdmission(served.test.clock);
    const webhookFrom = (ip: string) =>
      ({ ip, routeOptions: { config: { providerBody: true } } }) as unknown as FastifyRequest;
    expect(admission.shareOf(webhookFrom('192.0.2.1')).name).toBe('webhooks 192.0.2.1');
    expect(admission.shareOf(webhookFrom('2001:db8::1')).name).toBe('webhooks 2001:db8:0:0');
    await served.call('POST', '/api/v1/telephony/inbound/run', { key: null });
    expect(seen).toEqual(['webhooks 127.0.0.1']);
  });
});
