// Addresses with placeholders. Source: contract §8.7.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRequestUrl } from '../../../src/workflow/tools/tool-url.ts';

describe('the address of a request', () => {
  it('is http or https, with placeholders after the host only', () => {
    for (const good of [
      'https://crm.example.com',
      'http://crm.example.com:8080/customers/{{ id }}?day={{day}}',
      'https://crm.example.com?day={{day}}',
      'https://[2001:db8::1]/x',
    ])
      expect(isRequestUrl(good), good).toBe(true);
  });

  it('has a fixed scheme, host and port, and no password', () => {
    for (const bad of [
      'ftp://crm.example.com/',
      '{{scheme}}://crm.example.com/',
      'https://{{host}}/x',
      'https://crm.{{tenant}}.example.com/',
      'https://crm.example.com:{{port}}/',
      'https://crm.example.com{{path}}',
      'https://user:secret@crm.example.com/',
      'https:\\\\crm.example.com',
      'https://crm.example.com\\@other.example.com/',
      'https:///x',
      'crm.example.com',
      '',
    ])
      expect(isRequestUrl(bad), bad).toBe(false);
  });

  it('keeps its host, whatever is put into it', () => {
    fc.assert(
      fc.property(fc.webUrl(), fc.string(), fc.string(), (base, between, value) => {
        const template = `${base}${between}{{a}}`;
        if (!isRequestUrl(template)) return;
        const url = template.replaceAll('{{a}}', encodeURIComponent(value));
        const fixed = /^[^/]*\/\/[^/?#]+/.exec(template)?.[0] ?? '';
        if (URL.canParse(url)) expect(new URL(url).host).toBe(new URL(fixed).host);
      }),
    );
  });
});
