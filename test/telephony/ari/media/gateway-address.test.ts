// `localhost` as the gateway's address is the PBX itself for a PBX on another machine.

import { hostname, networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/std/random.ts';
import { addressForPbx } from '../../../../src/telephony/ari/media/gateway-address.ts';
import { ariProvider } from '../../../../src/telephony/ari/provider.ts';
import type { AriAccount } from '../../../../src/telephony/ari/rest/config.ts';
import type { RtpPorts } from '../../../../src/transport/rtp/rtp-ports.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { gateway } from '../ari-harness.ts';

const ELSEWHERE = 'http://192.0.2.7:8088';
const at = (ariEndpoint: string, connection: AriAccount['connection'] = 'outgoing') => ({
  ari_endpoint: ariEndpoint,
  connection,
});
const ADDRESSES = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
/** This machine, as a PBX may be named; an address with a scope is no part of a URL. */
const OWN = [
  hostname(),
  ...ADDRESSES.filter((each) => each.family === 'IPv4' || each.scopeid === 0).map((each) =>
    each.family === 'IPv4' ? each.address : `[${each.address}]`,
  ),
];

describe("the gateway's address for a PBX", () => {
  it.each([
    ['10.0.0.5', ELSEWHERE, '10.0.0.5'],
    ['gateway.example.com', ELSEWHERE, 'gateway.example.com'],
    ['127.0.0.1', 'http://127.0.0.1:8088', '127.0.0.1'],
    ['localhost', 'http://localhost:8088', '127.0.0.1'],
    ['::1', 'http://[::1]:8088', '::1'],
  ])('%s is usable for %s', (host, ari, address) => {
    expect(addressForPbx(host, at(ari))).toBe(address);
  });

  it.each(['localhost', '127.0.0.1', '127.0.1.1', '::1'])('%s is refused in words', (host) => {
    expect(() => addressForPbx(host, at(ELSEWHERE))).toThrow(/PATCHBAY_MEDIA_HOST/);
  });

  it.each(OWN)('may be localhost for a PBX that is named %s, which is this machine', (own) => {
    expect(addressForPbx('localhost', at(`http://${own}:8088`))).toBe('127.0.0.1');
  });

  it('may be localhost for a PBX that opens the connection, as its own address is not known', () => {
    expect(addressForPbx('localhost', at(ELSEWHERE, 'incoming'))).toBe('127.0.0.1');
  });

  it.each(['rtp', 'audiosocket'])('is checked when the PBX is connected: %s', (media) => {
    const clock = new FakeClock();
    const rtp: RtpPorts = { open: () => Promise.reject(new Error('not asked for')) } as never;
    const packets = { host: 'localhost', rtp, audioSockets: undefined };
    const provider = ariProvider.create({ clock, random: systemRandom, packets });
    const login = { app_name: 'gw', app_password: 'gwsecret', stasis_app_name: 'app' };
    const { lines } = gateway(clock, { ari_endpoint: ELSEWHERE, ...login, media }, provider);
    expect(lines().map(({ msg }) => msg)).toContain('calls of the PBX will have no audio');
  });
});
