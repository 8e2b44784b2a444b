// The columns and lists of docs/services.md against what the code declares, service by service.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SPEECH_JOBS, type SpeechJob } from '../../src/model/speech-services/service-rows.ts';
import { services } from '../../src/model/speech-services/services.ts';
import { hasInterim } from '../../src/speech/stt/described/described-results.ts';
import {
  huggingFaceProfile,
  openAiCompatibleProfile,
  openAiProfile,
  speachesProfile,
  whisperCppProfile,
} from '../../src/speech/stt/openai-transcription/transcription-profile.ts';
import type { SttCapabilities } from '../../src/speech/stt/stt.ts';
import { createSttService } from '../../src/speech/vendors/stt-registry.ts';
import { keyCheckOf, voiceListOf } from '../../src/speech/vendors/vendors.ts';
import { requestTtsPresets, sttPresets, ttsPresets } from '../fakes/described/presets.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { serviceMeans } from '../fakes/services/service-means.ts';

const TITLES: Readonly<Record<string, SpeechJob>> = {
  'Language models': 'llm',
  ...Object.fromEntries([
    ['Recognisers', 'stt'],
    ['Voices', 'tts'],
  ] as const),
};
const EMBEDDED = ['scripted', 'pocketsphinx', 'flite'];
const text = readFileSync('docs/services.md', 'utf8');
const words = text.replace(/\s+/g, ' ');

interface TableRow {
  job: SpeechJob;
  providers: string[];
  what: string;
  cells: Record<string, string>;
}

const namesIn = (part: string): string[] =>
  [...part.matchAll(/`([a-z0-9_]+)`/g)].map(([, name = '']) => name);

function rowsOf(title: string, job: SpeechJob): TableRow[] {
  const part = text.slice(text.indexOf(`\n## ${title}\n`) + 1);
  const lines = part.slice(0, part.indexOf('\n## ')).split('\n');
  const table = lines.filter((line) => line.startsWith('| '));
  const cellsOf = (line: string) =>
    line
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim());
  const [head = [], ...rows] = table.map(cellsOf);
  return rows.map((cells) => ({
    job,
    providers: namesIn(cells[0] ?? ''),
    what: cells[1] ?? '',
    cells: Object.fromEntries(head.map((name, nth) => [name, cells[nth] ?? ''])),
  }));
}

const rows = Object.entries(TITLES).flatMap(([title, job]) => rowsOf(title, job));
const recognisers = rows.filter(({ job }) => job === 'stt');
const triedAgainst = ({ cells }: TableRow): string[] => (cells['Tried against'] ?? '').split(', ');

/** The names in a sentence of the text that begins with `begin` and ends with `end`. */
function named(begin: string, end: string): string[] {
  const from = words.indexOf(begin);
  expect(from, begin).toBeGreaterThan(0);
  return namesIn(words.slice(from, words.indexOf(end, from + begin.length))).sort();
}

const KEY = 'k'.repeat(20);
const NEEDED = { api_key: KEY, model: 'm', region: 'eastus' };
const ofScheme = (scheme: string) => ({ ...NEEDED, base_url: `${scheme}://stt.example.com` });

function capabilitiesOf(provider: string, more: Record<string, unknown> = {}): SttCapabilities {
  const row = services.stt[provider as keyof typeof services.stt];
  const inputs = [{}, { api_key: KEY }, NEEDED, ...['https', 'wss'].map(ofScheme)];
  const taken = inputs.map((input) => row.safeParse({ ...input, provider, ...more }));
  const settings = taken.find(({ success }) => success)?.data;
  const means = serviceMeans(new FakeClock());
  return createSttService(settings as Parameters<typeof createSttService>[0], means).capabilities;
}

const capabilitiesOfRow = ({ providers, what }: TableRow): SttCapabilities[] =>
  providers.map((provider) => {
    const [model] = /`(flux-[a-z-]+)`, `flux/.exec(what)?.slice(1) ?? [];
    return capabilitiesOf(provider, {
      api_key: KEY,
      ...(model === undefined ? {} : { model, eager_eot_threshold: 0.4 }),
      ...(provider === 'assemblyai' ? { eager_end_of_turn_confidence: 0.4 } : {}),
    });
  });

describe('the tables of services', () => {
  it('have each service once for each of its protocols, and name none that there is not', () => {
    for (const { job, providers } of rows) {
      for (const name of providers) expect(Object.keys(services[job]), job).toContain(name);
    }
    const listed = rows.flatMap(({ job, providers }) => providers.map((name) => `${job} ${name}`));
    const twice = listed.filter((name, nth) => listed.indexOf(name) < nth);
    expect(twice).toEqual(['stt deepgram']);
    const described = [
      ...Object.keys(sttPresets).map((name) => `stt ${name}`),
      ...Object.keys(ttsPresets).map((name) => `tts ${name}`),
      ...Object.keys(requestTtsPresets).map((name) => `tts ${name}`),
      'tts http_tts',
      'tts websocket_tts',
      'stt websocket_stt',
    ];
    const all = SPEECH_JOBS.flatMap((job) =>
      Object.keys(services[job])
        .filter((name) => !EMBEDDED.includes(name))
        .map((name) => `${job} ${name}`),
    );
    expect([...new Set([...listed, ...described])].sort()).toEqual(all.sort());
    expect(listed.filter((name) => described.includes(name))).toEqual([]);
  });

  it('say that none was tried on a live account', () => {
    expect(words).toContain('No service was tried on a live account.');
    const tried = [...new Set(rows.flatMap(triedAgainst))];
    expect(tried.sort()).toEqual(['SDK', 'fake', 'real engine']);
  });
});

describe('the table of recognisers', () => {
  it.each(recognisers.map((row) => [row.providers.join(', '), row] as const))(
    'says of %s what it declares: turn events, early ends, speech only',
    (_name, row) => {
      const { 'Turn events': turns = '' } = row.cells;
      const isGated = /Gets speech only|upload for each|one utterance at a time/i.test(row.what);
      for (const capabilities of capabilitiesOfRow(row)) {
        const { ownTurns = 'none', gated = false } = capabilities;
        expect({ turns: ownTurns !== 'none', early: ownTurns === 'eager', gated }).toEqual({
          turns: turns.startsWith('yes'),
          early: turns.includes('early ends'),
          gated: isGated,
        });
      }
    },
  );

  it('says of the presets which end an utterance by silence, and which have no interim words and no times', () => {
    const presets = Object.entries(sttPresets).map(([name, given]) => ({ name, given }));
    const which = (has: (of: (typeof presets)[number]['given']) => boolean) =>
      presets
        .filter(({ given }) => has(given))
        .map(({ name }) => name)
        .sort();
    const silent = which(({ finalize }) => finalize === undefined);
    expect(silent).toEqual(['gladia', 'jambonz_stt', 'vapi_transcriber', 'xai']);
    expect(words).toContain(
      '`gladia`, `xai`, `vapi_transcriber` and `jambonz_stt` end an utterance by their own silence',
    );
    const timeless = which(
      ({ tokens, results }) =>
        tokens === undefined && results.every((each) => each.words === undefined),
    );
    expect(timeless).toEqual(['jambonz_stt', 'sarvam', 'vapi_transcriber']);
    expect(words).toContain(
      '`sarvam`, `vapi_transcriber` and `jambonz_stt` give no times of words',
    );
    expect(which((given) => !hasInterim(given))).toEqual(['sarvam']);
    expect(words).toContain('`sarvam` has no interim words');
    const wide = which(({ audio }) => !['ulaw8', 's16@8000'].includes(audio.format));
    expect(wide).toEqual([]);
    expect(words).toContain('All take 8 kHz and were tried against a fake');
  });

  it('says which uploads are at 8 kHz, and which have times of words', () => {
    const given = { base_url: 'https://stt.example.com', api_key: KEY, model: 'whisper-1' };
    const verbose = { ...given, response_format: 'verbose_json' };
    const { openai, groq, speaches, openai_compatible: compatible } = services.stt;
    const { whisper_cpp: whisper, huggingface } = services.stt;
    const profiles = [
      openAiProfile(openai.parse({ ...given, provider: 'openai' })),
      openAiProfile(groq.parse({ ...given, provider: 'groq' })),
      speachesProfile(speaches.parse({ ...given, provider: 'speaches' })),
      openAiCompatibleProfile(compatible.parse({ ...verbose, provider: 'openai_compatible' })),
      whisperCppProfile(whisper.parse({ ...given, provider: 'whisper_cpp' })),
      huggingFaceProfile(huggingface.parse({ ...given, provider: 'huggingface' })),
    ];
    for (const { service, rateHz, fields } of profiles) {
      const { cells } = recognisers.find(({ providers }) => providers.includes(service)) ?? {};
      expect([service, cells?.['8 kHz']]).toEqual([service, rateHz === 8_000 ? 'yes' : '16 kHz']);
      const sent = fields?.({ language: undefined, terms: [] }) ?? [];
      const isVerbose = sent.some(([, value]) => value === 'verbose_json');
      expect([service, cells?.['Word times'] === 'no']).toEqual([service, !isVerbose]);
    }
  });

  it('says which change their language in an open session', () => {
    const open = Object.keys(services.stt).filter(
      (name) => name !== 'pocketsphinx' && name !== 'websocket_stt',
    );
    const changing = open.filter((name) => {
      const more = name === 'deepgram' ? { model: 'flux-general-multi', api_key: KEY } : {};
      return capabilitiesOf(name, more).setsLanguage === true;
    });
    const uploads = recognisers.filter(({ what }) =>
      /upload for each|one utterance at/i.test(what),
    );
    const expected = ['deepgram', 'wyoming', ...uploads.flatMap(({ providers }) => providers)];
    expect(changing.sort()).toEqual(expected.sort());
    expect(words).toContain(
      'Flux (`flux-general-multi`), Wyoming and uploads change the language in the open session',
    );
  });
});

describe('the lists of the text', () => {
  const withField = (job: SpeechJob, field: string): string[] =>
    Object.entries(services[job])
      .filter(([, row]) => Object.hasOwn(row.shape, field))
      .map(([name]) => name);

  it('name who has a concurrency limit', () => {
    const hosted = (presets: object) =>
      Object.keys(presets).filter((name) => !['vapi_transcriber', 'jambonz_stt'].includes(name));
    const stt = named('as its plan states: of recognisers', ', of voices');
    expect([...stt, ...hosted(sttPresets)].sort()).toEqual(
      withField('stt', 'concurrency_limit').sort(),
    );
    const tts = named(', of voices `elevenlabs`', 'Language models have none');
    expect([...tts, ...hosted(ttsPresets)].sort()).toEqual(
      withField('tts', 'concurrency_limit').sort(),
    );
  });

  it('name whose voices are looked for', () => {
    const listed = Object.keys(services.tts).filter((name) => voiceListOf(name) !== undefined);
    const whole = named('within the same three seconds', 'have whole lists');
    const asked = named('have whole lists;', 'are also asked');
    expect([...whole, ...asked].filter((name) => listed.includes(name)).sort()).toEqual(
      listed.sort(),
    );
    expect(asked).toEqual(listed.filter((name) => voiceListOf(name)?.one !== undefined).sort());
  });

  it('name every preset', () => {
    const stt = named('(below): presets of `cartesia`', '`websocket_stt` is a description');
    expect(stt).toEqual(Object.keys(sttPresets).sort());
    const tts = named('(below): presets of `inworld`', '`websocket_tts` and `http_tts` are');
    const presets = { ...ttsPresets, ...requestTtsPresets };
    expect(tts).toEqual(Object.keys(presets).sort());
  });

  it('name whose keys no request checks', () => {
    const keyed = SPEECH_JOBS.flatMap((job) => withField(job, 'api_key'));
    const unchecked = [...new Set(keyed)].filter((name) => keyCheckOf(name) === undefined);
    const documented = named('a key is "not verified"', 'Of these, and of Wyoming');
    expect(documented).toEqual([...unchecked, 'huggingface'].sort());
  });
});

/** Which services an SDK's test, a peer's program and a fake stand for. */
const SDKS: Readonly<Record<string, [SpeechJob, string][]>> = {
  anthropic: [['llm', 'anthropic']],
  assemblyai: [['stt', 'assemblyai']],
  'azure-speech': [['stt', 'azure_speech']],
  cartesia: [['tts', 'cartesia']],
  'deepgram-speak': [['tts', 'deepgram']],
  deepgram: [['stt', 'deepgram']],
  elevenlabs: [['tts', 'elevenlabs']],
  gemini: [['llm', 'google']],
  gladia: [['stt', 'gladia']],
  'openai-audio': [
    ['stt', 'openai'],
    ['tts', 'openai'],
  ],
  openai: [['llm', 'openai']],
  sarvam: [
    ['stt', 'sarvam'],
    ['tts', 'sarvam'],
  ],
  soniox: [['stt', 'soniox']],
  speechmatics: [['stt', 'speechmatics']],
};
const PROGRAMS: Readonly<Record<string, [SpeechJob, string][]>> = {
  vosk: [['stt', 'vosk']],
  wyoming: [
    ['stt', 'wyoming'],
    ['tts', 'wyoming'],
  ],
  openai: [
    ['stt', 'openai_compatible'],
    ['tts', 'openai_compatible'],
  ],
};

describe('what the tables say that services were tried against', () => {
  const provenBy = (table: typeof SDKS) => {
    const proven = Object.values(table).flat();
    return rows.filter(({ job, providers }) =>
      proven.some(([of, name]) => of === job && providers.includes(name)),
    );
  };
  const saying = (what: string) => rows.filter((row) => triedAgainst(row).includes(what));

  it('is an SDK where there is a test with it', () => {
    const tests = readdirSync('test/oracles').flatMap(
      (name) => /^(.+)\.test\.ts$/.exec(name)?.[1] ?? [],
    );
    expect(Object.keys(SDKS).sort()).toEqual(tests.sort());
    expect(saying('SDK')).toEqual(provenBy(SDKS));
    expect(words).toContain(
      '`gladia`, `sarvam`, `soniox` and `speechmatics` also against their SDKs',
    );
    expect(words).toContain('Each was tried against a fake, `sarvam` also against its SDK.');
  });

  it('is a real engine where a program of its own has one behind the protocol', () => {
    for (const name of Object.keys(PROGRAMS)) {
      expect(existsSync(`test/peers/${name}-process.ts`), name).toBe(true);
    }
    expect(saying('real engine')).toEqual(provenBy(PROGRAMS));
  });

  it('is always a fake', () => {
    expect(saying('fake')).toEqual(rows);
  });
});

describe('the README', () => {
  const readme = readFileSync('README.md', 'utf8');
  const groups = SPEECH_JOBS.flatMap((job) => {
    const title = Object.keys(TITLES).find((each) => TITLES[each] === job);
    const row = new RegExp(`^\\| ${title}: (.+) \\| (.+) \\|$`, 'gm');
    return [...readme.matchAll(row)].map(([, names = '', against = '']) => ({
      job,
      names: namesIn(names),
      against,
    }));
  });
  const rowsOfTable = (table: typeof SDKS) =>
    Object.values(table)
      .flat()
      .map(([job, name]) => `${job} ${name}`)
      .sort();
  const triedAgainst = (what: string) =>
    groups
      .filter(({ against }) => against.includes(what))
      .flatMap(({ job, names }) => names.map((name) => `${job} ${name}`))
      .sort();
  const offered = (job: SpeechJob) =>
    Object.keys(services[job]).filter((name) => name !== 'scripted');

  it.each(SPEECH_JOBS)('says of every service once against what it was tried: %s', (job) => {
    const names = groups.filter((group) => group.job === job).flatMap((group) => group.names);
    expect(names.sort()).toEqual(offered(job).sort());
  });

  it('says so of those with an SDK or a real program', () => {
    expect(triedAgainst("checked by the vendor's own SDK")).toEqual(rowsOfTable(SDKS));
    expect(triedAgainst('behind the protocol')).toEqual(rowsOfTable(PROGRAMS));
  });

  it('counts recognisers, voices and language models', () => {
    const counts = { stt: 'recognisers', tts: 'voices', llm: 'language models' } as const;
    for (const job of SPEECH_JOBS) {
      expect(readme).toContain(`${offered(job).length} ${counts[job]}`);
    }
  });
});
