import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COMMAND_VARIABLES, readConfig } from '../src/config.ts';
import { codeOf, GatewayError } from '../src/errors/gateway-error.ts';
import { settings } from '../src/settings.ts';

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64');

function problemsOf(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'CONFIG_INVALID') return error.message;
    throw error;
  }
  return '';
}

describe('settings', () => {
  it.each(['a'.repeat(31), 'a'.repeat(201), `${'a'.repeat(32)} b`])(
    'refuse a first API key that is too short, too long or has spaces, without quoting it: %s',
    (key) => {
      const read = () => readConfig({ PATCHBAY_BOOTSTRAP_API_KEY: key });
      expect(read).toThrow('PATCHBAY_BOOTSTRAP_API_KEY: must have 32 to 200 characters');
      expect(read).not.toThrow(key);
      const given = 'b'.repeat(32);
      expect(readConfig({ PATCHBAY_BOOTSTRAP_API_KEY: given }).bootstrapApiKey).toBe(given);
    },
  );

  it('read the prices of services from a file, and say what is wrong with it', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'prices-')), 'prices.json');
    const tts = { elevenlabs: { per_million_characters: 50 } };
    writeFileSync(file, JSON.stringify({ tts }));
    expect(readConfig({ PATCHBAY_PRICES: file }).prices?.tts).toEqual(tts);
    expect(problemsOf({ PATCHBAY_PRICES: 'no/such.json' })).toContain('no/such.json');
    expect(problemsOf({ PATCHBAY_PRICES: 'README.md' })).toContain('README.md: is no JSON');
  });

  it('connect gateways over Redis only where they share a database and keys, and have workers', () => {
    const url = 'rediss://gateway:hush@redis.example.com:6380/2';
    const beside = { DATABASE_URL: 'postgresql://db/x', PATCHBAY_SECRET_KEYS: key(1) };
    expect(readConfig({ REDIS_URL: url, ...beside }).redisUrl).toBe(url);
    expect(problemsOf({ REDIS_URL: url })).toContain(
      'REDIS_URL: needs DATABASE_URL too; REDIS_URL: needs PATCHBAY_SECRET_KEYS too',
    );
    expect(problemsOf({ REDIS_URL: url, ...beside, PATCHBAY_WORKERS: '0' })).toContain(
      'REDIS_URL: needs PATCHBAY_WORKERS of 1 or more too',
    );
    const wrong = problemsOf({ REDIS_URL: 'http://:hush@redis', ...beside });
    expect(wrong).toContain('REDIS_URL: must be a redis:// or rediss:// URL');
    expect(wrong).not.toContain('hush');
  });

  it('need nothing to be set', () => {
    expect(readConfig({})).toEqual({
      loadLimits: { load: 0.85, delayMs: 40 },
      hasConsole: true,
      host: '0.0.0.0',
      port: 8000,
      publicUrl: 'http://localhost:8000',
      media: {
        host: 'localhost',
        audioSocketPort: undefined,
        rtpPorts: { first: 30_000, last: 30_999 },
      },
      dataFolder: './data',
      databaseUrl: undefined,
      redisUrl: undefined,
      node: undefined,
      nodeUrl: `http://${hostname()}:8000`,
      secretKeys: undefined,
      callLimit: 10,
      publicLinkDays: 30,
      interruptedCallsExtra: 0,
      workers: 1,
      drainMs: 300_000,
      drainGraceMs: 0,
      stallMs: 10_000,
      model: undefined,
      voice: 'slt',
      stt: 'auto',
      oldMetricNames: false,
      log: { level: undefined, pii: false },
      isSignUpOpen: false,
      tokenSecret: undefined,
      tokenHours: 720,
      trustedProxies: ['loopback'],
      origins: ['http://localhost:8000'],
      outsideAllowed: [],
      devopsSecret: undefined,
      deploymentMode: 'oss',
      authProvider: 'local',
    });
  });

  it('the public URL follows the port and loses its trailing slash', () => {
    expect(readConfig({ PATCHBAY_PORT: '9001' }).publicUrl).toBe('http://localhost:9001');
    const given = readConfig({ PATCHBAY_PUBLIC_URL: 'https://gw.example.com/patchbay/' });
    expect(given.publicUrl).toBe('https://gw.example.com/patchbay');
  });

  it('calls from browsers are opened by pages of the public URL, and of further origins', () => {
    const origins = (env: Record<string, string>) => readConfig(env).origins;
    const PatchbayPublicUrl = 'https://gw.example.com/patchbay/';
    const PatchbayCorsOrigins = 'https://shop.example.com, http://localhost:3000';
    expect(
      origins({
        PATCHBAY_PUBLIC_URL: PatchbayPublicUrl,
        PATCHBAY_CORS_ORIGINS: PatchbayCorsOrigins,
      }),
    ).toEqual(['https://gw.example.com', 'https://shop.example.com', 'http://localhost:3000']);
    for (const bad of ['*', 'shop.example.com', 'https://shop.example.com/', 'ws://a.example']) {
      expect(problemsOf({ PATCHBAY_CORS_ORIGINS: bad }), bad).toContain('CORS_ORIGINS');
    }
  });

  it('PBXs bring their media to the host of the public URL, or to the one that is set', () => {
    const media = (env: Record<string, string>) => readConfig(env).media;
    const given = { PATCHBAY_PUBLIC_URL: 'https://gw.example.com:8443/patchbay' };
    expect(media(given).host).toBe('gw.example.com');
    expect(media({ PATCHBAY_PUBLIC_URL: 'http://[2001:db8::1]:8000' }).host).toBe('2001:db8::1');
    expect(media({ ...given, PATCHBAY_MEDIA_HOST: '10.0.0.7' }).host).toBe('10.0.0.7');
    expect(media({ PATCHBAY_MEDIA_HOST: 'media.internal' }).host).toBe('media.internal');
    for (const bad of ['http://gw.example.com', 'gw.example.com:9000', 'two words', '10.0.0.0/8']) {
      expect(problemsOf({ PATCHBAY_MEDIA_HOST: bad }), bad).toContain('MEDIA_HOST');
    }
  });

  it('PBXs without websocket media find AudioSocket on a port, and RTP in a range of them', () => {
    const { media } = readConfig({
      PATCHBAY_AUDIOSOCKET_PORT: '9019',
      PATCHBAY_RTP_PORTS: '20000-20009',
    });
    expect(media).toMatchObject({
      audioSocketPort: 9_019,
      rtpPorts: { first: 20_000, last: 20_009 },
    });
    expect(problemsOf({ PATCHBAY_AUDIOSOCKET_PORT: '65536' })).toContain('AUDIOSOCKET_PORT');
    for (const bad of ['20000', '20009-20000', '20000-20008', '80-2000', '65000-65536', 'a-b']) {
      expect(problemsOf({ PATCHBAY_RTP_PORTS: bad }), bad).toContain('RTP_PORTS');
    }
  });

  it('the name of a node is a word that no worker of another can have', () => {
    expect(readConfig({ PATCHBAY_NODE: 'gw-1.example.com:/data' }).node).toBe(
      'gw-1.example.com:/data',
    );
    for (const bad of ['gw#2', 'two words', 'x'.repeat(201)]) {
      expect(problemsOf({ PATCHBAY_NODE: bad }), bad).toContain('PATCHBAY_NODE');
    }
  });

  it('other gateways reach this one by its host name, or where that does not resolve by its URL', () => {
    expect(readConfig({ PATCHBAY_PORT: '9000' }).nodeUrl).toBe(`http://${hostname()}:9000`);
    expect(readConfig({ PATCHBAY_NODE_URL: 'https://10.0.0.7:8000/' }).nodeUrl).toBe(
      'https://10.0.0.7:8000',
    );
    for (const bad of ['10.0.0.7:8000', 'ws://gw1:8000', 'http://gw1:8000?a=1']) {
      expect(problemsOf({ PATCHBAY_NODE_URL: bad }), bad).toContain('PATCHBAY_NODE_URL');
    }
  });

  it('an empty variable is one that is not set', () => {
    expect(readConfig({ PATCHBAY_PORT: '', OPENAI_API_KEY: ' ' })).toEqual(readConfig({}));
  });

  it('sign-up is open only where the setting says so', () => {
    for (const text of ['true', '1']) {
      expect(readConfig({ ENABLE_SIGNUP: text }).isSignUpOpen).toBe(true);
    }
    expect(readConfig({ ENABLE_SIGNUP: 'false' }).isSignUpOpen).toBe(false);
    expect(problemsOf({ ENABLE_SIGNUP: 'perhaps' })).toContain('ENABLE_SIGNUP');
  });

  it('a secret for tokens is long, and its text is not quoted', () => {
    expect(readConfig({ PATCHBAY_JWT_SECRET: 's'.repeat(32) }).tokenSecret).toBe('s'.repeat(32));
    const problems = problemsOf({ PATCHBAY_JWT_SECRET: 'short-one' });
    expect(problems).toContain('PATCHBAY_JWT_SECRET: must have at least 32 characters');
    expect(problems).not.toContain('short-one');
  });

  it('proxies that are trusted are addresses, networks or kinds of them', () => {
    const good = 'loopback, 10.0.0.0/8,192.0.2.7 ,2001:db8::/32';
    expect(readConfig({ PATCHBAY_TRUSTED_PROXIES: good }).trustedProxies).toEqual([
      'loopback',
      '10.0.0.0/8',
      '192.0.2.7',
      '2001:db8::/32',
    ]);
    for (const bad of ['everyone', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.0/x', '1.2.3', 'a,']) {
      expect(problemsOf({ PATCHBAY_TRUSTED_PROXIES: bad }), bad).toContain('TRUSTED_PROXIES');
    }
  });

  it('what agents may call beside public addresses is hosts, addresses and networks', () => {
    const good = 'crm.internal, localhost,10.0.0.0/8 ,::1';
    expect(readConfig({ PATCHBAY_OUTSIDE_ALLOW: good }).outsideAllowed).toEqual([
      'crm.internal',
      'localhost',
      '10.0.0.0/8',
      '::1',
    ]);
    expect(readConfig({}).outsideAllowed).toEqual([]);
    for (const bad of ['http://crm', '10.0.0.0/33', 'a/8', '1.2.3', '*', 'a..b', 'crm:80']) {
      expect(problemsOf({ PATCHBAY_OUTSIDE_ALLOW: bad }), bad).toContain('OUTSIDE_ALLOW');
    }
  });

  it('a model leads the conversation once its address or its key is there', () => {
    expect(readConfig({ OPENAI_API_KEY: 'k' }).model).toEqual({
      baseUrl: 'https://api.openai.com/v1',
      apiKey: 'k',
      name: 'gpt-5.4-mini',
    });
    const local = { OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1/', OPENAI_MODEL: 'qwen3' };
    expect(readConfig(local).model).toEqual({
      baseUrl: 'http://127.0.0.1:11434/v1',
      apiKey: undefined,
      name: 'qwen3',
    });
    expect(readConfig({ OPENAI_MODEL: 'qwen3' }).model).toBeUndefined();
  });

  it('sealing keys keep their order', () => {
    const keys = `${key(2)}, ${'0a'.repeat(32)}`;
    expect(readConfig({ PATCHBAY_SECRET_KEYS: keys }).secretKeys).toBe(keys);
  });

  it('the variables of the command may be set in the same shell', () => {
    const exported = { PATCHBAY_URL: 'x', PATCHBAY_API_KEY: 'x', PATCHBAY_PBX_PASSWORD: 'x' };
    expect(readConfig(exported)).toEqual(readConfig({}));
  });

  it('every variable that the command reads is a setting or one of its own', () => {
    const files = readdirSync('src/cli', { recursive: true, encoding: 'utf8' });
    const sources = files
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(`src/cli/${name}`, 'utf8'));
    const read = sources.flatMap(
      (text) => text.match(/(?<=env\[')PATCHBAY_\w+|(?<=env\.)PATCHBAY_\w+/g) ?? [],
    );
    expect(read).toEqual(expect.arrayContaining([...COMMAND_VARIABLES]));
    expect(
      read.filter((name) => !COMMAND_VARIABLES.includes(name) && !(name in settings.shape)),
    ).toEqual([]);
  });

  it('every fault is reported at once', () => {
    const problems = problemsOf({
      PATCHBAY_PORT: '70000',
      DATABASE_URL: 'mysql://db/x',
      LOG_LEVEL: 'loud',
      PATCHBAY_DRAIN_SECOND: '3',
    });
    for (const name of ['PATCHBAY_PORT', 'DATABASE_URL', 'LOG_LEVEL', 'PATCHBAY_DRAIN_SECOND']) {
      expect(problems).toContain(`${name}: `);
    }
  });

  it.each([
    { PATCHBAY_SECRET_KEYS: 'too-short-s3cret' },
    { PATCHBAY_SECRET_KEYS: `${key(1)},,s3cret` },
    { DATABASE_URL: 'no url but s3cret' },
    { PATCHBAY_PUBLIC_URL: 'ftp://s3cret' },
    { PATCHBAY_PUBLIC_URL: 'https://gw.example.com/?s3cret' },
  ])('a fault never quotes the value: %o', (env) => {
    const problems = problemsOf(env);
    expect(problems).not.toBe('');
    expect(problems).not.toMatch(/s3cret/);
  });

  it('any environment gives a configuration or CONFIG_INVALID', () => {
    const names = fc.constantFrom(...Object.keys(settings.shape));
    fc.assert(
      fc.property(fc.dictionary(names, fc.string()), (env) => {
        try {
          expect(readConfig(env).port).toBeGreaterThan(0);
        } catch (error) {
          expect(codeOf(error)).toBe('CONFIG_INVALID');
        }
      }),
    );
  });
});

describe('S3', () => {
  const s3 = {
    S3_ENDPOINT: 'https://s3.example.com/',
    S3_BUCKET: 'calls',
    S3_ACCESS_KEY: 'AK1',
    S3_SECRET_KEY: 'a-secret-of-s3',
  };
  const problemsOf = (env: Record<string, string>): string => {
    try {
      readConfig(env);
      return '';
    } catch (error) {
      return String(error instanceof Error ? error.message : error);
    }
  };

  it('is off without settings, and has defaults for what a bucket need not have', () => {
    expect(readConfig({}).s3).toBeUndefined();
    expect(readConfig(s3).s3).toEqual({
      endpoint: 'https://s3.example.com',
      bucket: 'calls',
      region: 'us-east-1',
      accessKey: 'AK1',
      secretKey: 'a-secret-of-s3',
      publicEndpoint: undefined,
      isPathStyle: true,
    });
    expect(readConfig({ ...s3, S3_PATH_STYLE: '0' }).s3?.isPathStyle).toBe(false);
  });

  it('has all of its settings or none', () => {
    expect(problemsOf({ S3_BUCKET: 'calls' })).toMatch(
      /S3_ENDPOINT: must be set where S3_BUCKET is; S3_ACCESS_KEY: .*; S3_SECRET_KEY: /,
    );
    expect(problemsOf({ S3_PUBLIC_ENDPOINT: 'https://s3.example.com' })).toContain(
      'S3_ENDPOINT: must be set where S3_PUBLIC_ENDPOINT is',
    );
  });

  it.each([
    ['S3_ENDPOINT', 's3.example.com'],
    ['S3_ENDPOINT', 'https://s3.example.com/bucket'],
    ['S3_BUCKET', 'a/b'],
    ['S3_BUCKET', 'UPPER'],
    ['S3_REGION', 'eu west'],
    ['S3_PATH_STYLE', 'yes'],
  ])('refuses %s=%s without a secret in the error', (name, value) => {
    const problems = problemsOf({ ...s3, [name]: value });
    expect(problems).toContain(`${name}: `);
    expect(problems).not.toContain(s3.S3_SECRET_KEY);
  });
});
