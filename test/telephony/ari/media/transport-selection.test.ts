import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../../src/errors/gateway-error.ts';
import { selectMediaTransport } from '../../../../src/telephony/ari/media/transport-selection.ts';
import { accountOf } from '../../../../src/telephony/ari/rest/config.ts';
import type { ProviderCredentials } from '../../../../src/telephony/provider/terms.ts';

/** `way format`, or the code of the refusal. */
function choice(
  version: string | null,
  more: ProviderCredentials = {},
  hasAudioSocket = true,
): string {
  const login = { ari_endpoint: 'http://pbx:8088', app_name: 'gw', app_password: 'secret' };
  try {
    const { way, format } = selectMediaTransport(
      accountOf({ ...login, ...more }),
      version,
      hasAudioSocket,
    );
    return `${way} ${format}`;
  } catch (error) {
    return codeOf(error) ?? '';
  }
}

describe("how a call's audio is carried", () => {
  it('is by websocket from the releases on that have it whole (asterisk §6)', () => {
    for (const version of [
      '20.18.0',
      '22.8.0',
      '23.2.0',
      '22.10.1',
      '24.0.0',
      null,
      'GIT-master',
      'certified-22.8-cert4',
    ]) {
      expect(choice(version), String(version)).toBe('websocket_server ulaw');
    }
    for (const version of [
      '20.17.0',
      '21.12.0',
      '22.7.3',
      '23.1.0',
      '18.26.4',
      'certified-20.7-cert9',
    ]) {
      expect(choice(version), version).toBe('audiosocket slin');
    }
  });

  it('is by RTP where neither side has AudioSocket', () => {
    expect(choice('16.28.0')).toBe('rtp ulaw');
    expect(choice('18.26.4', {}, false)).toBe('rtp ulaw');
  });

  it('has a wide format over AudioSocket only where Asterisk labels it so', () => {
    const wanted = { media: 'audiosocket', media_format: 'slin16' };
    for (const version of ['20.17.0', '21.12.0', '22.7.0', '23.1.0']) {
      expect(choice(version, wanted), version).toBe('audiosocket slin16');
    }
    for (const version of ['18.26.4', '20.16.0', '21.11.0', '22.6.0']) {
      expect(choice(version, wanted), version).toBe('audiosocket slin');
    }
  });

  it('has only static payload types over RTP: others go one way', () => {
    const over = (mediaFormat: string) =>
      choice('22.10.1', { media: 'rtp', media_format: mediaFormat });
    expect(['ulaw', 'alaw', 'g722', 'slin16', 'auto'].map(over)).toEqual([
      'rtp ulaw',
      'rtp alaw',
      'rtp g722',
      'rtp ulaw',
      'rtp ulaw',
    ]);
  });

  it('is refused where the configuration wants what the PBX does not have', () => {
    expect(choice('18.26.4', { media: 'websocket_server' })).toBe('PBX_TOO_OLD');
    expect(choice('16.28.0', { media: 'audiosocket' })).toBe('PBX_TOO_OLD');
    expect(choice('13.38.3')).toBe('PBX_TOO_OLD');
  });
});
