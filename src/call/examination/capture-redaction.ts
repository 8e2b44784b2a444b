// Redaction of captures: removes credentials, signatures, tokens, ids of accounts and calls, telephone numbers, e-mail
// addresses, and names of hosts and people. Known values are replaced wherever they stand; others by their form or by
// the name of their field. The same value always has the same placeholder, which keeps the value's form, so that a
// provider's parser accepts it: numbers have digits, host names are host names.

import { isIPv6 } from 'node:net';
import { isCredentialName } from '../../model/speech-services/description-secrets.ts';
import { isObject } from '../../std/json.ts';

/** Shortest known value that is replaced: shorter ones could be words. */
const KNOWN_CHARACTERS_MIN = 6;
/** Shortest known value that is searched for in a finished line: shorter ones could be words of the capture itself. */
const LEAK_CHARACTERS_MIN = 8;
/** Known values at most: each text is searched for every one. */
const KNOWN_MAX = 200;
/** SIP addresses of the configuration that are known values; further ones are recognised by their form. */
const SIP_MAX = 10;
/** Lines of a private key at most: RSA with 8192 bits has 105. */
const KEY_LINES_MAX = 120;
/** Shortest part of a number that is searched for without its country code, which has up to three digits. */
const NATIONAL_DIGITS_MIN = 7;
const COUNTRY_DIGITS_MAX = 3;
/** Longest telephone number (E.164). */
const NUMBER_DIGITS_MAX = 15;
const DEPTH_MAX = 20;
/** Shortest text that is searched: the shortest thing to find is a host such as `a.io`. */
const TEXT_CHARACTERS_MIN = 4;
/** The longest body that is kept. */
const TEXT_CHARACTERS_MAX = 16_000;
/** Shortest base64 text that counts as audio; the shortest frame has 160 bytes. */
const AUDIO_CHARACTERS_MIN = 128;
const ID_DIGITS_MIN = 3;

const AUDIO = /^[A-Za-z0-9+/]+={0,2}$/;
/** Names of headers that hold a proof or a key, whatever their value. */
const PROOF = /signature|nonce|authorization|cookie|token|key|auth-id|jwt/i;
/** Names of headers about the connection itself or the proxies on its path. */
const OF_CONNECTION =
  /^(host|connection|upgrade|keep-alive|te|transfer-encoding|content-length|accept-encoding|via|forwarded|x-forwarded-.*|x-real-ip|x-original-.*|x-envoy-.*|.*client-ip|cf-.*|sec-websocket-.*|traceparent|tracestate)$/i;
const NUMBER_FIELD =
  /(^|[_-])(to|from|caller|called|callee|number|msisdn|phone|dnis|ani|did|destination|source|cli|callerid)([_-]?(number|id))?$|Number$|^(To|From|Caller|Called)/i;
const TELEPHONE = /^\+?\d{7,}$/;
const PERSON_FIELD =
  /caller_?(id_?)?name|cnam|display_?name|^(from|to|caller|called)_?(city|state|zip|country)$/i;
const ACCOUNT_FIELD =
  /^(parent|sub)?_?-?(account|domain|tenant|connection|application|app|customer|user|owner|profile|subscriber|organization|trunk)_?-?(s?id|uuid)$/i;
const TIME = /^\d{8}T\d{6}/;
// Each match begins at the start of a word and scans it once: the text comes from outside and may be long.
const MAILBOX = /(?<![^\s"'<>@:;,=&?/()[\]])[^\s"'<>@:;,=&?/()[\]]+@[a-z0-9-]+(\.[a-z0-9-]+)+/gi;
const URL_HOST =
  /\b((?:https?|wss?|sips?):(?:\/\/)?(?:[^\s/@"'<>?&]{0,200}@)?)([^\s/:?#"'<>&;,\\]+(?::\d+)?)/gi;
const HOST =
  /(?<![a-z0-9_-])(?:[a-z0-9_-]+\.){1,8}(?:[a-z]{2}|com|net|org|info|biz|dev|app|cloud|tech|site|online|local|internal|invalid|test|example)\b(?!\.)/gi;
/** Candidates: `isIPv6` decides. */
const IPV6 = /(?<![\w:.])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?![\w:])/gi;
/** Digits as people write them, with separators. */
const DIGITS = /\d(?:[\s().-]{0,2}\d){6,}/g;
/** Different values of one kind; a capture has a few dozen. Further ones share the last placeholder. */
const VALUES_MAX = 500;

export interface KnownToRedaction {
  /** Credentials of the configuration: every text in them is a known value. */
  credentials: Readonly<Record<string, unknown>>;
  /** Numbers of the configuration, and the number that is called; `+` and digits. */
  numbers: readonly string[];
  /** The gateway's public URL. */
  publicUrl: string;
}

export class CaptureRedaction {
  readonly #names = new PlaceholderNames();
  /** Placeholders by value, the longest value first. */
  #known: [string, string][] = [];
  readonly #numbers: readonly string[];
  /** Numbers by their digits: with the country code, and without one to three of its digits. */
  readonly #numberByDigits = new Map<string, { number: string; skipped: number }>();

  constructor({ credentials, numbers, publicUrl }: KnownToRedaction) {
    const gateway = URL.parse(publicUrl);
    this.addSecret(gateway?.host ?? '', 'gateway.invalid');
    this.addSecret(gateway?.hostname ?? '', 'gateway.invalid');
    this.#numbers = this.#addNumbers(numbers);
    for (const [field, value] of Object.entries(credentials)) this.#addSecretsIn(field, value);
    for (const each of numbers.filter((number) => number.includes('@')).slice(0, SIP_MAX)) {
      this.addSecret(each, 'sip:redacted@redacted.invalid');
    }
  }

  /** Adds a value that is replaced by `placeholder` wherever it stands. */
  addSecret(value: string, placeholder: string): void {
    if (value.length < KNOWN_CHARACTERS_MIN || this.#known.length >= KNOWN_MAX) return;
    const forms = [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)];
    const base64 = Buffer.from(value).toString('base64');
    this.#addForms([...forms, base64], placeholder);
  }

  #addForms(forms: readonly string[], placeholder: string): void {
    for (const form of new Set(forms)) this.#known.push([form, placeholder]);
    this.#known.sort(([a], [b]) => b.length - a.length);
  }

  /** The digits of the telephone numbers. SIP addresses and extensions are not digits alone: they are recognised by
   *  their form. */
  #addNumbers(numbers: readonly string[]): string[] {
    const telephones = numbers.filter((number) => TELEPHONE.test(number));
    const all = [...new Set(telephones.map((number) => number.replace('+', '')))];
    for (let skipped = 0; skipped <= COUNTRY_DIGITS_MAX; skipped += 1) {
      for (const number of all) {
        const part = number.slice(skipped);
        if (part.length < NATIONAL_DIGITS_MIN || this.#numberByDigits.has(part)) continue;
        this.#numberByDigits.set(part, { number, skipped });
      }
    }
    return all;
  }

  headers(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const kept = Object.entries(headers).filter(([name, value]) => {
      return value !== undefined && !OF_CONNECTION.test(name);
    });
    return Object.fromEntries(
      kept.map(([name, value]) => [
        this.text(name),
        PROOF.test(name) ? this.#proof(value) : this.field(name, value),
      ]),
    );
  }

  /** Redacts an address; the parameters of its query are fields. */
  url(given: string): string {
    const [base = '', ...rest] = given.split('?');
    if (rest.length === 0) return this.text(base);
    const parameters = [...new URLSearchParams(rest.join('?'))].map(([name, value]) => {
      const redacted = encodeURIComponent(String(this.field(name, value)));
      return `${encodeURIComponent(this.text(name))}=${redacted}`;
    });
    return `${this.text(base)}?${parameters.join('&')}`;
  }

  /** Redacts a value, with regard to its name. */
  field(name: string, value: unknown, depth = 0): unknown {
    if (depth >= DEPTH_MAX) return null;
    if (Array.isArray(value)) return value.map((each) => this.field(name, each, depth + 1));
    if (isObject(value)) return this.#object(value, depth);
    if (typeof value === 'number') return this.#numeral(name, value);
    if (typeof value !== 'string' || value === '') return value;
    if (isCredentialName(name)) return this.#names.id(value);
    if (PERSON_FIELD.test(name)) return 'redacted';
    if (ACCOUNT_FIELD.test(name)) return this.#isPlaceholder(value) ?? this.#names.id(value);
    if (NUMBER_FIELD.test(name) && /^\+?\d[\d\s().-]{3,}$/.test(value))
      return this.#numberIn(value);
    return this.text(value);
  }

  /** Redacts any text. */
  text(given: string): string {
    if (given.length >= AUDIO_CHARACTERS_MIN && AUDIO.test(given)) {
      return `<audio ${Buffer.byteLength(given, 'base64')} bytes>`;
    }
    if (given.length < TEXT_CHARACTERS_MIN) return given;
    // Replaced before the text is cut: a part of a value would not be found.
    let text = given;
    for (const [value, placeholder] of this.#known) text = text.replaceAll(value, placeholder);
    text = this.#withoutHosts(text);
    text = this.#withoutNumbers(text);
    return this.#withoutIds(text).slice(0, TEXT_CHARACTERS_MAX);
  }

  /** Whether a line that is to be written still has a known value. */
  leaksIn(line: string): boolean {
    const isWritten = ([value]: [string, string]): boolean =>
      value.length >= LEAK_CHARACTERS_MIN && line.includes(value);
    return this.#known.some(isWritten) || this.#numbers.some((digits) => line.includes(digits));
  }

  #object(value: Record<string, unknown>, depth: number): Record<string, unknown> {
    const fields = Object.entries(value).map(([name, each]) => [
      this.text(name),
      this.field(name, each, depth + 1),
    ]);
    return Object.fromEntries(fields);
  }

  #addSecretsIn(field: string, value: unknown): void {
    if (isObject(value)) {
      for (const [name, each] of Object.entries(value))
        this.#addSecretsIn(`${field}-${name}`, each);
      return;
    }
    if (typeof value !== 'string' || field === 'provider') return;
    const url = URL.parse(value);
    if (url !== null && /^https?:$/.test(url.protocol)) {
      this.addSecret(url.host, 'api.invalid');
      this.addSecret(url.hostname, 'api.invalid');
      return;
    }
    const placeholder = `redacted-${field.replace(/[^A-Za-z0-9]+/g, '-')}`;
    this.addSecret(value, placeholder);
    // A private key may be written with other line ends. Its lines have one form each.
    const lines = value.split(/\\n|\r?\n/).slice(0, KEY_LINES_MAX);
    if (lines.length === 1) return;
    this.#addForms(
      lines.filter((line) => line.length >= AUDIO_CHARACTERS_MIN / 4),
      placeholder,
    );
  }

  /** Replaces a signature, nonce or key of a header; its scheme stays. */
  #proof(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#proof(each));
    const [, scheme = '', proof = ''] = /^([A-Za-z]{2,12} )?(.*)$/s.exec(String(value)) ?? [];
    return `${scheme}${this.#names.id(proof)}`;
  }

  #numeral(name: string, value: number): number {
    const digits = String(value);
    if (ACCOUNT_FIELD.test(name)) return 1;
    const isKnown = this.#numbers.includes(digits);
    if (!isKnown && (!NUMBER_FIELD.test(name) || digits.length < NATIONAL_DIGITS_MIN)) return value;
    return Number(this.#names.number(digits));
  }

  #isPlaceholder(value: string): string | undefined {
    return this.#known.find(([known]) => known === value)?.[1];
  }

  #withoutHosts(given: string): string {
    const text = given
      .replace(IPV6, (address) => (isIPv6(address) ? this.#names.address(address) : address))
      .replace(MAILBOX, (mailbox) =>
        mailbox.endsWith('@redacted.invalid') ? mailbox : this.#names.mailbox(mailbox),
      )
      .replace(URL_HOST, (_, scheme: string, host: string) => `${scheme}${this.#hostOf(host)}`);
    return text
      .replace(/\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b/g, (address) =>
        address.startsWith('192.0.2.') ? address : this.#names.address(address),
      )
      .replace(/\b(?:[0-9a-f]{1,4}:){3,7}:?[0-9a-f]{0,4}\b/gi, (address) =>
        this.#names.address(address),
      )
      .replace(HOST, (host) => this.#hostOf(host));
  }

  #hostOf(host: string): string {
    if (host.endsWith('.invalid')) return host;
    return this.#names.host(host);
  }

  /** Replaces known numbers in any form, and all numbers that begin with `+`. */
  #withoutNumbers(given: string): string {
    const text = given.replace(DIGITS, (run) => this.#knownNumbersIn(run));
    return text.replace(
      /(\+|%2B|tel:)(\d(?:[\s().-]{0,2}\d){6,})/gi,
      (_, plus: string, digits: string) => {
        return plus + this.#placeholderOf(digits.replace(/\D/g, ''));
      },
    );
  }

  /** Replaces known numbers in `run`, groups of digits with separators. A number may be several groups; other groups
   *  stay. */
  #knownNumbersIn(run: string): string {
    const groups = [...run.matchAll(/(\d+)(\D*)/g)];
    let text = '';
    for (let first = 0; first < groups.length; ) {
      const known = this.#knownNumberAt(groups, first);
      text += known === undefined ? groups[first]?.[0] : known.text;
      first = known?.next ?? first + 1;
    }
    return text;
  }

  /** The longest known number that begins with the group `first`. */
  #knownNumberAt(
    groups: readonly RegExpExecArray[],
    first: number,
  ): { text: string; next: number } | undefined {
    let digits = '';
    let found: { text: string; next: number } | undefined;
    for (let at = first; at < groups.length && digits.length <= NUMBER_DIGITS_MAX; at += 1) {
      const [, group = '', separator = ''] = groups[at] ?? [];
      digits += group;
      const known = this.#numberByDigits.get(digits);
      if (known === undefined) continue;
      const placeholder = this.#names.number(known.number).slice(known.skipped);
      found = { text: placeholder + separator, next: at + 1 };
    }
    return found;
  }

  /** Replaces a field's value that is a number. */
  #numberIn(value: string): string {
    const digits = value.replace(/\D/g, '');
    return `${value.startsWith('+') ? '+' : ''}${this.#placeholderOf(digits)}`;
  }

  #placeholderOf(digits: string): string {
    if (/^15550\d{6}$/.test(digits)) return digits;
    const known = this.#numbers.find(
      (number) => number === digits || number.slice(-digits.length) === digits,
    );
    return known === undefined
      ? this.#names.number(digits)
      : this.#names.number(known).slice(-digits.length);
  }

  /** Replaces what could be an id or a key: of calls, streams, requests, accounts. */
  #withoutIds(text: string): string {
    return text.replace(/[A-Za-z0-9_-]{16,}/g, (word) => {
      const digits = word.replace(/\D/g, '').length;
      if (digits < ID_DIGITS_MIN || TIME.test(word) || word.startsWith('redacted-')) return word;
      return this.#names.id(word);
    });
  }
}

/** Numbers, hosts and ids that no configuration names. */
type Kind = 'number' | 'host' | 'id' | 'mailbox' | 'address';

/** The placeholders of one capture. */
class PlaceholderNames {
  readonly #known = new Map<Kind, Map<string, number>>();

  /** Placeholder of a telephone number, digits only: 1 555 0 and six more, which no real number has. */
  number(digits: string): string {
    return `15550${String(this.#index('number', digits)).padStart(6, '0')}`;
  }

  host(name: string): string {
    return `host-${this.#index('host', name.toLowerCase())}.invalid`;
  }

  id(value: string): string {
    return `id-${this.#index('id', value)}`;
  }

  mailbox(value: string): string {
    return `mailbox-${this.#index('mailbox', value.toLowerCase())}@redacted.invalid`;
  }

  /** Placeholder of an IP address, from the range for documentation (RFC 5737). */
  address(value: string): string {
    return `192.0.2.${this.#index('address', value) % 255}`;
  }

  #index(kind: Kind, value: string): number {
    const known = this.#known.get(kind) ?? new Map<string, number>();
    this.#known.set(kind, known);
    const index = known.get(value) ?? Math.min(known.size + 1, VALUES_MAX);
    if (known.size < VALUES_MAX) known.set(value, index);
    return index;
  }
}
