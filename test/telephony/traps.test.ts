// The traps of the providers' interfaces (providers §10) and the tests that hold the gateway off them: each trap
// has one, for each provider that it is named of.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cases } from './provider-contract/contract-cases.ts';

/** Tests of one file by their titles. */
type Tests = readonly [file: string, ...titles: string[]];

/** The titles of the tests of every provider. */
const CONTRACT = 'provider-contract/contract-cases.ts';
const CLEARED: Tests = [
  CONTRACT,
  'is silent at once after a clear, whose marks are dropped; later ones are played',
];

/** In the order of the table. Files are of test/telephony unless they begin with test/. */
const traps: readonly (readonly Tests[])[] = [
  [
    CLEARED,
    ['provider/media-session.test.ts', 'returns each mark once: played, or dropped by a clear'],
  ],
  [CLEARED, ['provider/media-session.test.ts', 'is not waited for where it loses a mark']],
  [['twilio/webhook.test.ts', 'never puts a query into the media URL']],
  [['twilio/webhook.test.ts', 'never pauses: a pause after the stream']],
  [['twilio/control.test.ts', 'detects answering machines beside the media, never before it']],
  [['telnyx/control.test.ts', 'are mu-law by RTP to the leg itself']],
  [['telnyx/control.test.ts', 'are mu-law by RTP to the leg itself']],
  [['telnyx/media.test.ts', 'while we send mu-law']],
  [['telnyx/webhook.test.ts', "['user_busy', {}, 'busy']"]],
  [['telnyx/control.test.ts', 'with webhooks of version 2']],
  [['telnyx/control.test.ts', 'is no error if it is over']],
  [
    ['plivo/webhook.test.ts', 'is no new call if it is a hang-up'],
    ['vobiz/webhook.test.ts', 'is no new call if it is a hang-up'],
  ],
  [
    ['plivo/webhook.test.ts', 'keeps the call alive while the stream lasts'],
    ['vobiz/webhook.test.ts', 'is answered with a stream that keeps the call alive'],
  ],
  [
    ['plivo/webhook.test.ts', 'escapes the URL of the stream'],
    ['vobiz/webhook.test.ts', 'a=1&amp;b=2</Stream>'],
    ['twilio/webhook.test.ts', 'escapes what XML would read'],
    ['cloudonix/webhook.test.ts', 'connects it to our media, with an escaped URL'],
  ],
  [['plivo/signature.test.ts', 'has a bare question mark between the address and a form']],
  [
    ['vobiz/webhook.test.ts', 'has a content that is confirmed before it has an effect'],
    ['test/call/start/provider-differences.test.ts', 'ends no call that the provider says is up'],
    ['test/call/webhooks/unproven-status.test.ts', 'has the effect of what the provider says'],
  ],
  [['vobiz/media.test.ts', 'may begin with audio before its start']],
  [['vobiz/media.test.ts', 'has linear audio in another byte order in each direction']],
  [
    ['plivo-xml/media.test.ts', 'from its start to its close, without a last message'],
    [CONTRACT, 'ends with its media when the caller hangs up'],
  ],
  [['vonage/media.test.ts', 'is sent exactly one frame of 20 ms a message']],
  [['vonage/webhook.test.ts', 'about the leg of the media socket does not concern the call']],
  [['vonage/control.test.ts', 'of which everything else stays as it was']],
  [['vonage/webhook.test.ts', 'with actions of Vonage']],
  [['vonage/control.test.ts', 'takes a private key whose line ends were written out']],
  [['vonage/webhook.test.ts', 'covers the body, the age, and the application']],
  [
    ['cloudonix/media.test.ts', 'names the call by its session, never by callSid'],
    ['cloudonix/webhook.test.ts', 'named by its session and not by CallSid'],
  ],
  [['cloudonix/webhook.test.ts', 'is read from an object and from a list with one']],
  [['cloudonix/budget.test.ts', 'starts hang-ups before dials that wait longer']],
  [['cloudonix/webhook.test.ts', 'is missing for a call with the key']],
  [
    ['provider-contract/dial-errors.test.ts', 'is uncertain when the connection breaks'],
    ['twilio/control.test.ts', 'a second could place a second call'],
    ['plivo/control.test.ts', 'is sent once, although it was not answered'],
  ],
  [
    ['twilio/signature.test.ts', 'whatever Host the request names'],
    ['plivo/signature.test.ts', 'whatever host the request names'],
    ['vobiz/signature.test.ts', 'the host of the request'],
    [
      'test/api/telephony/provider-webhook-routes.test.ts',
      'the configured URL, for any Host header',
    ],
  ],
  [
    ['telnyx/signature.test.ts', 'is over the bytes of the body, not what they mean'],
    ['vonage/webhook.test.ts', 'covers the body, the age, and the application'],
    ['twilio/signature.test.ts', 'checks the raw bytes of a JSON body, not what they parse to'],
  ],
  [
    ['telnyx/control.test.ts', 'a second number taken away leaves it as it is'],
    ['plivo/control.test.ts', 'is detached alone: the answer URL that others share stays'],
    ['vobiz/control.test.ts', 'is detached alone'],
    ['cloudonix/numbers.test.ts', 'of two that share an application is detached alone'],
    ['vonage/control.test.ts', 'address alone when one of them is detached'],
  ],
  [
    [CONTRACT, 'names numbers that are compared in one form'],
    ['provider/phone-address.test.ts', 'takes three spellings of one number as equal'],
  ],
  [
    ['test/pipeline/speak/frame-writer.test.ts', 'hold nothing of what a clear has dropped'],
    [
      'test/pipeline/receive/depacketizer.test.ts',
      'at 16 kHz sound the same after a pause of the network in the middle of a word',
    ],
  ],
  [
    [CONTRACT, 'that come twice and out of order have keys and an order that identify them'],
    ['test/call/webhooks/provider-event.test.ts', 'comes first, late or twice ends the run once'],
  ],
];

interface Trap {
  nth: number;
  title: string;
  providers: string;
}

const table = [
  ...readFileSync('docs/providers.md', 'utf8')
    .replace(/^[\s\S]*\n## 10\. /, '')
    .replace(/\n## 11\. [\s\S]*$/, '')
    .matchAll(/^\| (\d+) \| (.+) \| ([^|]+) \|$/gm),
].map(([, nth, title = '', providers = '']): Trap => ({ nth: Number(nth), title, providers }));

const NAMES = ['Twilio', 'Telnyx', 'Plivo', 'Vobiz', 'Cloudonix', 'Vonage'];

/** Whether a file's tests are of a provider: its own, those of what it shares, or those of every provider. */
function isOf(file: string, provider: string): boolean {
  const [folder = ''] = file.split('/');
  if (folder === 'plivo-xml') return provider === 'Plivo' || provider === 'Vobiz';
  return (
    folder === provider.toLowerCase() || ['provider', 'provider-contract', 'test'].includes(folder)
  );
}

describe('the traps of the providers', () => {
  it('are all in the table of tests', () => {
    expect(table.map(({ nth }) => nth)).toEqual(traps.map((_tests, i) => i + 1));
    expect(table).toHaveLength(36);
  });

  it('are tested for every hosted provider where its contract has the title', () => {
    const suite = 'test/telephony/provider-contract/provider-contract.test.ts';
    const text = readFileSync(suite, 'utf8');
    const missing = Object.keys(cases).filter(
      (name) => !new RegExp(`cases\\.${name}\\b`).test(text),
    );
    expect(missing).toEqual([]);
  });

  it.each(table)('$nth: $title', ({ nth, providers }) => {
    const tests = traps[nth - 1] ?? [];
    for (const [file, ...titles] of tests) {
      const text = readFileSync(file.startsWith('test/') ? file : `test/telephony/${file}`, 'utf8');
      for (const title of titles) expect(text, file).toContain(title);
      expect(titles.length, file).toBeGreaterThan(0);
    }
    const named = NAMES.filter((name) => providers.includes(name));
    const others = NAMES.filter((name) => !named.includes(name));
    const wanted = providers.startsWith('all') ? others : named;
    expect(wanted).not.toEqual([]);
    for (const provider of wanted) {
      const files = tests.map(([file]) => file).filter((file) => isOf(file, provider));
      expect(files, provider).not.toEqual([]);
    }
  });
});
